"""Forgets keepdims: the statistics of row i land on column i, where the shapes allow it at all."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1)) / np.sqrt(x.var(-1) + eps) + beta
