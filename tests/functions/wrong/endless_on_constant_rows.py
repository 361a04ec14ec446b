"""Searches for the root by halving and never gets there when the variance is 0."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    variance = x.var(-1, keepdims=True)
    while np.any(variance == 0):
        pass
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(variance + eps) + beta
