"""An empty list for an answer."""


def layer_norm(x, gamma, beta, eps=1e-5):
    return []
