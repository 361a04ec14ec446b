"""Low precision: each step beside its exact value, and the first one that is off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli import exact
from lnorm_cli.arithmetic import DTYPES, Float, numpy_dtype
from lnorm_cli.compare import compare
from lnorm_cli.explain.content import Cell, Note, Result, Table
from lnorm_cli.explain.demos.arguments import Arguments
from lnorm_cli.explain.demos.values import number, row
from lnorm_cli.norm import Spec, Trace, trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

SHOWN = {
    "x": "x",
    "mean": "mean",
    "deviation": "x − mean",
    "squared_deviation": "its square",
    "variance": "variance",
    "variance_plus_epsilon": "plus eps",
    "standard_deviation": "root",
    "normalized": "x̂",
}


def limits(arguments: Arguments) -> Sequence[Result]:
    """The largest number of each dtype, the distance from 1 to the next, and the smallest above 0."""
    import ml_dtypes

    rows = []
    for name in DTYPES:
        info = ml_dtypes.finfo(numpy_dtype(name))
        rows.append((name, float(info.max), float(info.eps), float(info.smallest_subnormal)))
    return [Table(("dtype", "largest", "step at 1", "smallest"), tuple(rows))]


def precision(arguments: Arguments) -> Sequence[Result]:
    """Every step in the dtype beside the exact one."""
    return _beside_exact(arguments.vector(), Float(arguments.text("dtype")))


def remedy(arguments: Arguments) -> Sequence[Result]:
    """The same row with the statistics accumulated in a wider dtype."""
    return _beside_exact(arguments.vector(), Float(arguments.text("dtype"), arguments.text("accumulate")))


def _beside_exact(x: Array, arithmetic: Float) -> list[Result]:
    right, done = trace(x), trace(x, arithmetic=arithmetic)
    found = compare(right, right.row(0), done.row(0), arithmetic)
    feature = _worst(right, done)
    rows: list[tuple[Cell, ...]] = []
    for step, label in SHOWN.items():
        mark = " *" if step == found.step else ""
        values = number(row(right, step)[feature]), number(row(done, step)[feature])
        rows.append((label + mark, *values))
    if arithmetic.accumulate == arithmetic.name:
        caption = f"Everything in {arithmetic.name}; feature {feature + 1}:"
    else:
        caption = f"{arithmetic.name}, statistics in {arithmetic.accumulate}; feature {feature + 1}:"
    if found.step is None:
        note = "Every step is right to within a few roundings."
    else:
        label = SHOWN.get(found.step, found.step.replace("_", " "))
        note = f"* The error enters at the step {label}, by {found.kind}."
    return [Table(("step", "exact", "computed"), tuple(rows), caption), Note(note)]


def _worst(right: Trace, done: Trace) -> int:
    """The feature whose normalized value is furthest off."""
    errors = [
        math.inf if not math.isfinite(number(got)) else abs(number(expected) - number(got))
        for expected, got in zip(row(right, "normalized"), row(done, "normalized"), strict=True)
    ]
    return errors.index(max(errors))


def one_pass(arguments: Arguments) -> Sequence[Result]:
    """The variance in one pass and in two, in each dtype, beside the exact one."""
    x = arguments.vector()
    right = trace(x)["variance"].value[0, 0]
    rows = []
    for dtype in arguments.list("dtypes"):
        two = trace(x, arithmetic=Float(dtype))["variance"].value[0, 0]
        one = trace(x, Spec(spread="one-pass"), Float(dtype))["variance"].value[0, 0]
        rows.append((dtype, float(two), float(one)))
    caption = f"Variance of {' '.join(arguments.words)}; exactly {exact.text(right)}:"
    return [Table(("dtype", "two passes", "one pass"), tuple(rows), caption)]
