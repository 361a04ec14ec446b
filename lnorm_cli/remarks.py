"""What there is to notice about one row: a name, a text from `TEXTS`, and the values that it speaks of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lnorm_cli import exact
from lnorm_cli.compare import AMPLIFIED, Precision, largest
from lnorm_cli.norm import HALF
from lnorm_cli.request import Request

TEXTS = {
    "one-element": "A row of one element equals its own mean: x - mean is 0, so the output is beta, whatever x, gamma "
    "and epsilon are.",
    "no-spread": "The row has no spread: its normalized values are exactly 0 and the output is exactly beta.",
    "statistics": "The normalized vector has mean exactly 0 and variance {}: that is var/(var + epsilon), {} below 1.",
    "statistics-without-epsilon": "With epsilon 0 the normalized vector has mean exactly 0 and variance exactly 1.",
    "mean-square": "The normalized vector has mean square {}: that is q/(q + epsilon) with q the mean square of x, {} "
    "below 1. Its mean is not made 0.",
    "all-zero": "Every x is 0, and so are the normalized values; the output is exactly beta.",
    "mean-square-without-epsilon": "With epsilon 0 the normalized vector has mean square exactly 1. Its mean is not "
    "made 0.",
    "epsilon-rules": "Epsilon ({}) is larger than the {} ({}): it rules the divisor and shrinks the output.",
    "biased": "The variance divides by n = {}, not by n - 1. A standard deviation taken with n - 1 is larger by the "
    "factor sqrt(n/(n - 1)) = {}.",
    "affine": "Gamma and beta choose a new range: the output need not have mean 0 and variance 1.",
    "rounding": "Every operation is rounded to {}, the statistics to {}; the normalized value is rounded before gamma "
    "multiplies it.",
    "overflow": "{} overflows at the step '{}': {} is beyond its largest number {}.{}",
    "underflow": "{} loses the step '{}': the value is too small for it and becomes 0.{}",
    "cancellation": "In {} the error enters at the step '{}': the rounding of x, small against x, is large against the "
    "difference. In the output it is {} of the largest entry.",
    "rounding-error": "In {} the error passes {} roundings at the step '{}'; in the output it is {} of the largest "
    "entry.",
}
NEARLY_ONE = 0.99
"""From here on a variance is "a little" below 1."""

_REMEDY = " Statistics in float32 mend it: --accumulate float32."


@dataclass(frozen=True)
class Remark:
    """Something to notice; renderers write `values` in their notation into the text of that `name`."""

    name: str
    values: tuple[Any, ...] = ()

    @property
    def text(self) -> str:
        return TEXTS[self.name]


def remark_on(asked: Request, exacts: Mapping[str, Any], spread: exact.Exact, precision: Precision) -> Iterator[Remark]:
    """The remarks on one row, from its exact values by step; `spread` is its variance or mean square."""
    n, eps, rms = asked.layout.n, asked.eps, asked.norm == "rms"
    if n == 1 and not rms:
        yield Remark("one-element")
    elif exact.is_zero(spread):
        yield Remark("all-zero" if rms else "no-spread")
    else:
        name = "mean-square" if rms else "statistics"
        if exact.is_zero(eps):
            yield Remark(f"{name}-without-epsilon")
        else:
            share = exact.divide(spread, exact.add(spread, eps))
            yield Remark(name, (share, "a little" if exact.to_float(share) > NEARLY_ONE else "well"))
        if exact.to_float(eps) > exact.to_float(spread):
            yield Remark("epsilon-rules", (eps, "mean square" if rms else "variance", spread))
        if not rms:
            yield Remark("biased", (Fraction(n), exact.power(Fraction(n, n - 1), HALF)))
    if any(value != 1 for value in exacts["gamma"]) or any(value != 0 for value in exacts["beta"]):
        yield Remark("affine")
    yield from _on_precision(asked, exacts, precision)


def _on_precision(asked: Request, exacts: Mapping[str, Any], precision: Precision) -> Iterator[Remark]:
    name, statistics = asked.arithmetic.name, asked.arithmetic.accumulate
    if name in ("float16", "bfloat16") or statistics != name:
        yield Remark("rounding", (name, statistics))
    if precision.step is None or precision.kind is None:
        return
    step = precision.step.replace("_", " ")
    of_statistics = precision.step not in ("x", "normalized", "scaled", "output")
    dtype = statistics if of_statistics else name
    remedy = _REMEDY if of_statistics and dtype in ("float16", "bfloat16") else ""
    if precision.kind == "overflow":
        biggest = max((exact.absolute(value) for value in exacts[precision.step]), key=exact.to_float)
        yield Remark("overflow", (dtype, step, biggest, Fraction(largest(dtype)), remedy))
    elif precision.kind == "underflow":
        yield Remark("underflow", (dtype, step, remedy))
    elif precision.kind == "cancellation":
        yield Remark("cancellation", (dtype, step, precision.output))
    else:
        yield Remark("rounding-error", (dtype, str(AMPLIFIED), step, precision.output))
