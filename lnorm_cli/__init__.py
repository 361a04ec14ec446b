"""lnorm: layer normalization step by step, exactly and in floating point.

>>> from lnorm_cli import trace, Spec
>>> trace([2, 4, 4, 6], Spec(), eps=0)["variance"].value
array([[Fraction(2, 1)]], dtype=object)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lnorm_cli.arithmetic import Exact, Float
    from lnorm_cli.errors import InputError, UndefinedError
    from lnorm_cli.norm import BATCH, LAYER, RMS, BackwardTrace, Spec, Step, Trace, backward, trace

__version__ = "0.1.0"
__all__ = [
    "BATCH", "LAYER", "RMS", "BackwardTrace", "Exact", "Float", "InputError", "Spec", "Step", "Trace",
    "UndefinedError", "backward", "trace",
]  # fmt: skip

_HOMES = {
    "lnorm_cli.arithmetic": ("Exact", "Float"),
    "lnorm_cli.errors": ("InputError", "UndefinedError"),
    "lnorm_cli.norm": ("BATCH", "LAYER", "RMS", "BackwardTrace", "Spec", "Step", "Trace", "backward", "trace"),
}


def __getattr__(name: str) -> Any:
    """The names of `__all__`, imported when they are first asked for: `lnorm --help` asks for none."""
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(home), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
