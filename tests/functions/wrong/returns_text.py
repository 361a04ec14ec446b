"""A string that shows the numbers."""


def layer_norm(x, gamma, beta, eps=1e-5):
    return str(x)
