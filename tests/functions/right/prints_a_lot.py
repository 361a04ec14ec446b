"""Right, and noisy on standard output and standard error, on import as well."""

import os
import sys

import numpy as np

print('{"schema": "lnorm/check/1", "verdict": "none of this is the result"}')


def layer_norm(x, gamma, beta, eps):
    for line in range(300):
        print("step", line, x)
    print("noise", file=sys.stderr)
    os.write(1, b"straight to the descriptor\n")
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) + beta
