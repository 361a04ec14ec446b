"""E[x^2] - E[x]^2, made safe by subtracting the first element beforehand."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    near = x - x[..., :1]
    mean = near.mean(-1, keepdims=True)
    variance = np.maximum((near * near).mean(-1, keepdims=True) - mean * mean, 0)
    return (near - mean) / np.sqrt(variance + eps) * gamma + beta
