"""Raises what Ctrl-C raises."""


def layer_norm(x, gamma, beta, eps=1e-5):
    raise KeyboardInterrupt
