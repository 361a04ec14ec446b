"""The signature of the functional form in torch, in numpy."""

import numpy as np


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    axes = tuple(range(-len(normalized_shape), 0))
    out = (input - input.mean(axes, keepdims=True)) / np.sqrt(input.var(axes, keepdims=True) + eps)
    if weight is not None:
        out = out * weight
    return out if bias is None else out + bias
