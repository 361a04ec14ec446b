"""One row of plain Python numbers, summed in loops."""

from math import sqrt


def layer_norm(x, gamma, beta, eps=1e-5):
    mean = 0.0
    for value in x:
        mean += value / len(x)
    variance = 0.0
    for value in x:
        variance += (value - mean) ** 2 / len(x)
    return [g * (value - mean) / sqrt(variance + eps) + b for value, g, b in zip(x, gamma, beta)]
