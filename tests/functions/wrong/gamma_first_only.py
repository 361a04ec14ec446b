"""One gamma for all features."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    out = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)
    return gamma[0] * out + beta
