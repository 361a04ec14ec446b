"""Unpacks two axes, so rank 1 and rank 3 raise."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    rows, features = x.shape
    mean = x.mean(1).reshape(rows, 1)
    return gamma * (x - mean) / np.sqrt(x.var(1).reshape(rows, 1) + eps) + beta
