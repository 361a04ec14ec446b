"""Reads address 0: the interpreter itself dies."""

import ctypes


def layer_norm(x, gamma, beta, eps=1e-5):
    return ctypes.string_at(0)
