"""A class whose variance divides by n - 1."""

import numpy as np


class LayerNorm:
    def __init__(self, normalized_shape, eps=1e-5):
        self.weight = np.ones(normalized_shape)
        self.bias = np.zeros(normalized_shape)
        self.eps = eps

    def __call__(self, x):
        centred = x - x.mean(-1, keepdims=True)
        variance = (centred**2).sum(-1, keepdims=True) / max(x.shape[-1] - 1, 1)
        return self.weight * centred / np.sqrt(variance + self.eps) + self.bias
