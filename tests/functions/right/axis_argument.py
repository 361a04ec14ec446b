"""The axis is an argument and has a default."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5, axis=-1):
    mean = np.expand_dims(x.mean(axis), axis)
    return gamma * (x - mean) / np.sqrt(np.expand_dims(x.var(axis), axis) + eps) + beta
