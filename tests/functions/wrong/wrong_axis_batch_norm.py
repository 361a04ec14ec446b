"""Batch normalization: one mean a feature, over everything else."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    rows = x.reshape(-1, x.shape[-1])
    return gamma * (x - rows.mean(0)) / np.sqrt(rows.var(0) + eps) + beta
