"""The mean is right; the zeros of a padded block enter the squared deviations."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    n = x.shape[-1]
    mean = x.mean(-1, keepdims=True)
    block = np.zeros((*x.shape[:-1], -(-n // 8) * 8), dtype=x.dtype)
    block[..., :n] = x
    return gamma * (x - mean) / np.sqrt(((block - mean) ** 2).sum(-1, keepdims=True) / n + eps) + beta
