"""One multiplication and one addition an element: x * scale + shift."""

import numpy as np


def layer_norm(x, gamma, beta, eps):
    mean = x.mean(axis=-1, keepdims=True)
    scale = gamma / np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    return x * scale + (beta - mean * scale)
