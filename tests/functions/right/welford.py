"""Welford's running mean and sum of squares, a row at a time."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    out = np.empty_like(x)
    for index in np.ndindex(x.shape[:-1]):
        mean, squares = x.dtype.type(0), x.dtype.type(0)
        for count, value in enumerate(x[index], start=1):
            delta = value - mean
            mean = mean + delta / count
            squares = squares + delta * (value - mean)
        out[index] = gamma * (x[index] - mean) / np.sqrt(squares / x.shape[-1] + eps) + beta
    return out
