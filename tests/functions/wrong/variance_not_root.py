"""Divides by the variance: the root is forgotten."""


def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + eps) + beta
