"""Asks for more memory than it may have, a piece at a time."""


def layer_norm(x, gamma, beta, eps=1e-5):
    kept = []
    while True:
        kept.append(bytearray(64 * 1024 * 1024))
