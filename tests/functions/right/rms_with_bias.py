"""RMSNorm that also takes a beta."""

import numpy as np


def rms_norm(x, gamma, beta, epsilon):
    return gamma * x * (np.square(x).mean(axis=-1, keepdims=True) + epsilon) ** -0.5 + beta
