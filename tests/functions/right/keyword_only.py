"""Everything but x by keyword."""

import numpy as np


def layer_norm(x, *, scale, bias, eps):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + eps) * scale + bias
