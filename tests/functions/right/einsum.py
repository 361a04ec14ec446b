"""Both sums written as einsum."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    n = x.shape[-1]
    centred = x - np.einsum("...i->...", x)[..., None] / n
    variance = np.einsum("...i,...i->...", centred, centred)[..., None] / n
    return np.einsum("...i,i->...i", centred / np.sqrt(variance + eps), gamma) + beta
