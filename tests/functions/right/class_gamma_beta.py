"""A class that starts with ones and zeros and is called like a function."""

import numpy as np


class LayerNorm:
    def __init__(self, dim, eps=1e-5):
        self.gamma = np.ones(dim)
        self.beta = np.zeros(dim)
        self.eps = eps

    def __call__(self, x):
        mean = x.mean(-1, keepdims=True)
        return self.gamma * (x - mean) / np.sqrt(x.var(-1, keepdims=True) + self.eps) + self.beta
