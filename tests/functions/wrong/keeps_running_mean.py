"""Remembers the rows of earlier calls: the same input gives another answer."""

import numpy as np

seen = []


def layer_norm(x, gamma, beta, eps=1e-5):
    seen.append(1.0)
    drift = np.asarray(len(seen) * 0.125, dtype=x.dtype)
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) + beta + drift
