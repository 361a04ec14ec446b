"""Two faults at once, as in code that divides by torch's std(): n - 1, and epsilon beside the root."""

import numpy as np


class LayerNorm:
    def __init__(self, features, eps=1e-6):
        self.a_2 = np.ones(features)
        self.b_2 = np.zeros(features)
        self.eps = eps

    def forward(self, x):
        std = x.std(-1, keepdims=True, ddof=1 if x.shape[-1] > 1 else 0)
        return self.a_2 * (x - x.mean(-1, keepdims=True)) / (std + self.eps) + self.b_2
