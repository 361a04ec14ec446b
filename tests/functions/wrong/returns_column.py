"""Right numbers with one axis too many, (n, 1) for (n,)."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    out = gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) + beta
    return out[..., np.newaxis]
