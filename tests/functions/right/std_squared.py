"""Starts from the standard deviation and squares it back."""

import numpy as np


def layer_norm(x, gain, offset, epsilon=1e-5):
    return gain * (x - x.mean(-1)[..., np.newaxis]) / np.sqrt(x.std(-1)[..., np.newaxis] ** 2 + epsilon) + offset
