"""Bessel's correction, on a plain list; one feature divides by zero."""


def layer_norm(x, gamma, beta, eps):
    mean = sum(x) / len(x)
    variance = sum((v - mean) ** 2 for v in x) / (len(x) - 1)
    return [g * (v - mean) / (variance + eps) ** 0.5 + b for v, g, b in zip(x, gamma, beta)]
