"""Array methods only: the file imports nothing."""


def layer_norm(x, gamma, beta, eps):
    centred = x - x.mean(-1, keepdims=True)
    return centred / ((centred * centred).mean(-1, keepdims=True) + eps) ** 0.5 * gamma + beta
