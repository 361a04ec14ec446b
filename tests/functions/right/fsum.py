"""Sums without rounding on the way, by math.fsum."""

import math


def layer_norm(x, gamma, beta, eps=1e-5):
    mean = math.fsum(x) / len(x)
    variance = math.fsum((value - mean) ** 2 for value in x) / len(x)
    return tuple(g * (value - mean) / math.sqrt(variance + eps) + b for value, g, b in zip(x, gamma, beta))
