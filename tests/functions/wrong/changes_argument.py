"""Right values, and x is centred in place on the way."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    x -= x.mean(-1, keepdims=True)
    return gamma * x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) + beta
