"""Two faults at once: gamma and beta in each other's place, and n - 1."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    variance = ((x - x.mean(-1, keepdims=True)) ** 2).sum(-1, keepdims=True) / max(x.shape[-1] - 1, 1)
    return beta * (x - x.mean(-1, keepdims=True)) / np.sqrt(variance + eps) + gamma
