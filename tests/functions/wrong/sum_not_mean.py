"""The sum of the squared deviations stands where their mean belongs."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    return gamma * centred / np.sqrt((centred**2).sum(-1, keepdims=True) + eps) + beta
