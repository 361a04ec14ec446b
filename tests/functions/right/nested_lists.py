"""Nested lists of any depth, by recursion."""


def layer_norm(x, gamma, beta, eps):
    if isinstance(x[0], list):
        return [layer_norm(part, gamma, beta, eps) for part in x]
    mean = sum(x) / len(x)
    variance = sum((value - mean) ** 2 for value in x) / len(x)
    scale = (variance + eps) ** -0.5
    return [(value - mean) * scale * gamma[i] + beta[i] for i, value in enumerate(x)]
