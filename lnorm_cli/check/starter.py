"""The file that `lnorm check --new` writes: a signature to fill in."""

from __future__ import annotations

from pathlib import Path

from lnorm_cli.errors import InputError

NAMES = {"layer": "layer_norm", "rms": "rms_norm"}

_LAYER = '''"""My own layer normalization. Check it with: lnorm check {file}:layer_norm"""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    """Normalize the last axis of x, then scale by gamma and shift by beta.

    x has any rank; gamma and beta have one entry for each feature. The result has the shape and dtype of x.
    """
    # 1. the mean of each row       (keepdims=True keeps its axis)
    # 2. the variance of each row   (divide by n)
    # 3. subtract, divide by the root of variance + eps
    # 4. scale and shift
    raise NotImplementedError("fill me in")
'''

_RMS = '''"""My own RMS normalization. Check it with: lnorm check --norm rms {file}:rms_norm"""

import numpy as np


def rms_norm(x, gamma, eps=1e-6):
    """Divide the last axis of x by its root mean square, then scale by gamma.

    x has any rank; gamma has one entry for each feature. The result has the shape and dtype of x.
    """
    # 1. the mean of the squares of each row   (keepdims=True keeps its axis)
    # 2. divide by the root of that mean + eps
    # 3. scale
    raise NotImplementedError("fill me in")
'''


def write_starter(file: str, norm: str = "layer") -> str:
    """Write the starter for a norm to `file`, which must not exist yet; returns FILE.py:NAME."""
    path = Path(file)
    if path.suffix != ".py" or not path.name.removesuffix(".py"):
        raise InputError(f"{file or 'an empty name'} is not the name of a Python file", hint="such as: --new my.py")
    text = {"layer": _LAYER, "rms": _RMS}[norm].format(file=path.name).encode("utf-8", "backslashreplace")
    try:
        with path.open("xb") as stream:
            stream.write(text)
    except FileExistsError:
        raise InputError(f"{file} exists already", hint="choose another name; nothing was written") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL in it
        raise InputError(f"{file} cannot be written: {getattr(error, 'strerror', None) or error}") from None
    return f"{file}:{NAMES[norm]}"
