"""A class after a well-known tutorial, here with the biased variance: epsilon joins the standard deviation."""

import numpy as np


class LayerNorm:
    def __init__(self, features, eps=1e-6):
        self.a_2 = np.ones(features)
        self.b_2 = np.zeros(features)
        self.eps = eps

    def forward(self, x):
        return self.a_2 * (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + self.eps) + self.b_2
