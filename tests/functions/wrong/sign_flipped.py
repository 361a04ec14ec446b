"""Subtracts x from the mean."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma * (x.mean(-1, keepdims=True) - x) / np.sqrt(x.var(-1, keepdims=True) + eps) + beta
