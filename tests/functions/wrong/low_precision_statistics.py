"""The whole computation in float16, the answer back in the dtype of x."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    half = x.astype(np.float16)
    mean, variance = half.mean(-1, keepdims=True), half.var(-1, keepdims=True)
    out = (half - mean) / np.sqrt(variance + np.float16(eps))
    return (out.astype(x.dtype) * gamma + beta).astype(x.dtype)
