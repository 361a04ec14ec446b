"""Multiplies by the reciprocal root."""

import numpy as np


def layer_norm(x, weight, bias, eps=1e-5):
    rstd = 1 / np.sqrt(x.var(-1, keepdims=True) + eps)
    return (x - x.mean(-1, keepdims=True)) * (rstd * weight) + bias
