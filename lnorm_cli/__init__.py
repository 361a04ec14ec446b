"""lnorm: layer normalization step by step, exactly and in floating point.

>>> from lnorm_cli import trace, Spec
>>> trace([2, 4, 4, 6], Spec(), eps=0)["variance"].value
array([[Fraction(2, 1)]], dtype=object)
"""

from lnorm_cli.arithmetic import Exact, Float
from lnorm_cli.backward import BackwardTrace, backward
from lnorm_cli.errors import InputError, UndefinedError
from lnorm_cli.norm import BATCH, LAYER, RMS, Spec, Step, Trace, trace

__version__ = "0.1.0"
__all__ = [
    "BATCH", "LAYER", "RMS", "BackwardTrace", "Exact", "Float", "InputError", "Spec", "Step", "Trace",
    "UndefinedError", "backward", "trace",
]  # fmt: skip
