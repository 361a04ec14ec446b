"""Scales by 1 + gamma, as for weights stored around zero."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    return (1 + gamma) * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) + beta
