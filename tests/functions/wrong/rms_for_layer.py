"""RMSNorm under the name of LayerNorm."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma * x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) + beta
