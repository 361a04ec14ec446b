"""One `trace` runs any `Spec` in any arithmetic and records its steps.

LayerNorm (Ba, Kiros, Hinton 2016), RMSNorm (Zhang, Sennrich 2019) and BatchNorm's training statistics (Ioffe,
Szegedy 2015) are three Specs of it; so is every known mistake.
"""

from lnorm_cli.norm.back import BackwardTrace, backward
from lnorm_cli.norm.run import trace
from lnorm_cli.norm.spec import BATCH, DEFAULT_EPS, HALF, LAYER, NORMS, RMS, ROOTS, SUMS, Spec, row_spec
from lnorm_cli.norm.steps import Recorder, Step, Trace

__all__ = [
    "BATCH", "DEFAULT_EPS", "HALF", "LAYER", "NORMS", "RMS", "ROOTS", "SUMS",
    "BackwardTrace", "Recorder", "Spec", "Step", "Trace", "backward", "row_spec", "trace",
]  # fmt: skip
