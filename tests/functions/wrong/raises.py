"""Stops with an exception of its own."""


def layer_norm(x, gamma, beta, eps=1e-5):
    raise NotImplementedError("write me [/] first")
