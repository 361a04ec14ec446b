"""A frozen dataclass: gamma and beta go in when it is made."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class LayerNorm:
    gamma: np.ndarray
    beta: np.ndarray
    eps: float = 1e-5

    def __call__(self, x):
        mean = x.mean(-1, keepdims=True)
        return self.gamma * (x - mean) / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + self.eps) + self.beta
