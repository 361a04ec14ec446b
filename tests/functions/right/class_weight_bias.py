"""A class with normalized_shape, weight, bias and forward."""

import numpy as np


class LayerNorm:
    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True):
        self.normalized_shape = tuple(normalized_shape)
        self.eps = eps
        self.weight = np.ones(self.normalized_shape) if elementwise_affine else None
        self.bias = np.zeros(self.normalized_shape) if elementwise_affine else None

    def forward(self, x):
        axes = tuple(range(-len(self.normalized_shape), 0))
        out = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + self.eps)
        return out * self.weight + self.bias
