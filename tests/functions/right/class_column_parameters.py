"""A class whose parameters are kept as (1, 1, d), its epsilon a plain attribute."""

import numpy as np


class Norm:
    def __init__(self, d_model):
        self.scale = np.ones((1, 1, d_model))
        self.shift = np.zeros((1, 1, d_model))
        self.epsilon = 1e-5

    def forward(self, x):
        out = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + self.epsilon)
        return (out * self.scale + self.shift).reshape(x.shape)
