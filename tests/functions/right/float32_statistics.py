"""Statistics in float32 at least, the result back in the dtype of x."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = np.asarray(x, dtype=np.promote_types(x.dtype, np.float32))
    mean = wide.mean(-1, keepdims=True)
    normalized = (wide - mean) / np.sqrt(((wide - mean) ** 2).mean(-1, keepdims=True) + eps)
    return (normalized * gamma + beta).astype(x.dtype)
