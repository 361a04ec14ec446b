"""Every feature gets the first gamma and the first beta."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma[0] * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) + beta[0]
