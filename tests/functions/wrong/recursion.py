"""Calls itself for ever."""


def layer_norm(x, gamma, beta, eps=1e-5):
    return layer_norm(x, gamma, beta, eps)
