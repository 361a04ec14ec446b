"""Pads each row with zeros to a multiple of eight and lets them into the statistics."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    padded = np.zeros((*x.shape[:-1], -(-x.shape[-1] // 8) * 8), dtype=x.dtype)
    padded[..., : x.shape[-1]] = x
    return gamma * (x - padded.mean(-1, keepdims=True)) / np.sqrt(padded.var(-1, keepdims=True) + eps) + beta
