"""Ends the process without a word."""

import os


def layer_norm(x, gamma, beta, eps=1e-5):
    os._exit(3)
