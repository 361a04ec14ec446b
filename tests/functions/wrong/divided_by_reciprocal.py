"""Divides by the reciprocal root, so the scale stands upside down."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    rsqrt = 1 / np.sqrt(x.var(-1, keepdims=True) + eps)
    return gamma * (x - x.mean(-1, keepdims=True)) / rsqrt + beta
