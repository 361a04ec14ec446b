"""Axis 1 written down for rank 2: rank 1 has none and rank 3 means another."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + eps) + beta
