"""Leaves epsilon out and guards the constant row by hand."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    std = x.std(-1, keepdims=True)
    return gamma * (x - x.mean(-1, keepdims=True)) / np.where(std == 0, 1, std) + beta
