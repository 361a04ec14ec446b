"""Computes on arrays and returns nested lists."""

import numpy as np


def layer_norm(x, gamma, beta, eps):
    x = np.asarray(x, dtype=float)
    out = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)
    return (out * gamma + beta).tolist()
