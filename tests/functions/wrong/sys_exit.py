"""Leaves with sys.exit."""

import sys


def layer_norm(x, gamma, beta, eps=1e-5):
    sys.exit("bye")
