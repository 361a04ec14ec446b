"""statistics.variance is the sample variance: it divides by n - 1."""

from statistics import mean, variance


def layer_norm(x, gamma, beta, eps):
    spread = variance(x) if len(x) > 1 else 0.0
    return [g * (v - mean(x)) / (spread + eps) ** 0.5 + b for v, g, b in zip(x, gamma, beta)]
