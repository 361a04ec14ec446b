"""Takes the root of the standard deviation."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    std = np.sqrt(x.var(-1, keepdims=True) + eps)
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(std) + beta
