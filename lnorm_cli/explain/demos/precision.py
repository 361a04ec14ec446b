"""Low precision: each step beside its exact value, and the first one that is off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli import exact
from lnorm_cli.arithmetic import DTYPES, Float, numpy_dtype
from lnorm_cli.explain.content import Cell, Note, Result, Table
from lnorm_cli.explain.demos.arguments import Arguments
from lnorm_cli.explain.demos.values import number, row
from lnorm_cli.norm import Spec, Trace, trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

LOST = 0.01
"""A step counts as wrong from this relative error on."""

SHOWN = ("x", "mean", "deviation", "squared_deviation", "variance", "standard_deviation", "normalized")


def limits(arguments: Arguments) -> Sequence[Result]:
    """The largest number of each dtype, the distance from 1 to the next, and whether 1e-8 survives beside 1."""
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
    rows: list[tuple[Cell, ...]] = []
    first = None
    feature = _worst(right, done, "normalized")
    for step in SHOWN:
        expected, got = number(row(right, step)[feature]), number(row(done, step)[feature])
        wrong = _lost(expected, got)
        first = first or (step if wrong else None)
        rows.append((step.replace("_", " "), expected, got, "first wrong" if wrong and step == first else ""))
    if arithmetic.accumulate == arithmetic.name:
        caption = f"Everything in {arithmetic.name}; feature {feature + 1}:"
    else:
        caption = f"{arithmetic.name}, statistics in {arithmetic.accumulate}; feature {feature + 1}:"
    note = "No step is off by one percent." if first is None else f"It goes wrong at: {first.replace('_', ' ')}."
    return [Table(("step", "exact", "computed", ""), tuple(rows), caption), Note(note)]


def _worst(right: Trace, done: Trace, step: str) -> int:
    """The feature on which a step is furthest off."""
    errors = [
        math.inf if not math.isfinite(number(got)) else abs(number(expected) - number(got))
        for expected, got in zip(row(right, step), row(done, step), strict=True)
    ]
    return errors.index(max(errors))


def _lost(expected: float, got: float) -> bool:
    return not math.isfinite(got) or abs(got - expected) > LOST * max(abs(expected), 1e-30)


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
