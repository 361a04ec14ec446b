"""A generator instead of the numbers."""


def layer_norm(x, gamma, beta, eps=1e-5):
    mean = sum(x) / len(x)
    root = (sum((v - mean) ** 2 for v in x) / len(x) + eps) ** 0.5
    return (g * (v - mean) / root + b for v, g, b in zip(x, gamma, beta))
