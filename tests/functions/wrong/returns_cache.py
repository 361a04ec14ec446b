"""A pair of the result and what a backward pass would need."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    out = gamma * (x - mean) / np.sqrt(variance + eps) + beta
    return out, {"mean": mean, "variance": variance}
