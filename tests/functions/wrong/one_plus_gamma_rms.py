"""RMSNorm that scales by 1 + weight."""

import numpy as np


def rms_norm(x, weight, eps=1e-6):
    return (1 + weight) * x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)
