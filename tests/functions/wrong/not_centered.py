"""The mean is used in the variance and not taken off x."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma * x / np.sqrt(x.var(-1, keepdims=True) + eps) + beta
