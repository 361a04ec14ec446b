"""RMSNorm with epsilon added to the root."""

import numpy as np


def rms_norm(x, weight, eps):
    return weight * x / (np.sqrt((x * x).mean(-1, keepdims=True)) + eps)
