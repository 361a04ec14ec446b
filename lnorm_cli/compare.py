"""The exact trace beside a floating-point one: how far apart each step is, and where the error enters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from lnorm_cli import exact

if TYPE_CHECKING:
    from lnorm_cli.arithmetic import Float
    from lnorm_cli.norm import Step

Kind: TypeAlias = Literal["overflow", "underflow", "cancellation", "rounding"]

AMPLIFIED = 16
"""An error of more than this many roundings is no longer that of the operation itself."""


@dataclass(frozen=True)
class Precision:
    """How one row fares in floating point.

    `errors` gives for each step the largest |float - exact| over the row, divided by the largest |exact|;
    `step` is the first where that exceeds `AMPLIFIED` roundings, and `kind` says why.
    """

    errors: dict[str, float]
    step: str | None = None
    kind: Kind | None = None

    @property
    def output(self) -> float:
        return self.errors["output"]


def compare(
    steps: Iterable[Step], exacts: Mapping[str, Any], floats: Mapping[str, Any], arithmetic: Float
) -> Precision:
    """Compare one row's exact and floating-point values of each step, in order."""
    limit = AMPLIFIED * max(arithmetic.unit, arithmetic.statistics.unit)
    errors: dict[str, float] = {}
    first: tuple[str, Kind] | None = None
    for step in steps:
        truth = [exact.approximate(value) for value in exacts[step.name]]
        shown = [float(value) for value in floats[step.name]]
        errors[step.name] = _error(truth, shown)
        if first is None and not errors[step.name] <= limit:
            first = (step.name, _kind(step.operation, truth, shown, arithmetic))
    return Precision(errors) if first is None else Precision(errors, *first)


def _error(truth: list[Fraction], shown: list[float]) -> float:
    if not all(map(math.isfinite, shown)):
        return math.inf
    scale = max(map(abs, truth))
    worst = max(abs(Fraction(value) - true) for value, true in zip(shown, truth, strict=True))
    if worst == 0:
        return 0.0
    return exact.to_float(worst / scale) if scale else math.inf


def _kind(operation: str, truth: list[Fraction], shown: list[float], arithmetic: Float) -> Kind:
    if not all(map(math.isfinite, shown)):
        return "overflow"
    if any(value == 0 != true for value, true in zip(shown, truth, strict=True)):
        return "underflow" if max(map(abs, truth)) < smallest_normal(arithmetic.accumulate) else "cancellation"
    return "cancellation" if operation == "subtract" else "rounding"


def smallest_normal(dtype: str) -> Fraction:
    """The smallest positive number with full precision."""
    exponent = {"float64": -1022, "float32": -126, "float16": -14, "bfloat16": -126}[dtype]
    return Fraction(2) ** exponent


def largest(dtype: str) -> float:
    """The largest finite number."""
    return {"float64": 1.7976931348623157e308, "float32": 3.4028234663852886e38, "float16": 65504.0}.get(
        dtype, 3.3895313892515355e38
    )
