"""A constant row gives 0 where beta belongs."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    variance = x.var(-1, keepdims=True)
    out = gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(variance + eps) + beta
    return np.where(variance == 0, np.zeros_like(x), out)
