"""Epsilon is a constant of the file, another library's 1e-6."""

import numpy as np

EPSILON = 1e-6


def layer_norm(x, gamma, beta):
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + EPSILON) + beta
