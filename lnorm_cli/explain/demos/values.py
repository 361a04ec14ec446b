"""Values of traces as cells of a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli import exact
from lnorm_cli.explain.content import Cell, Pair
from lnorm_cli.norm import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]


def pair(value: Any) -> Pair:
    """An exact value beside its float."""
    return Pair(exact.text(value), exact.to_float(value))


def number(value: Any) -> float:
    """The float64 of an exact value or of a number of any dtype."""
    return float(value) if hasattr(value, "dtype") or isinstance(value, float) else exact.to_float(value)


def cells(values: Iterable[Any], *, exactly: bool) -> list[Cell]:
    """Exact values as pairs, or as their floats alone."""
    return [pair(value) if exactly else number(value) for value in values]


def first(trace: Trace, step: str) -> Any:
    """A statistic of the first row."""
    return trace[step].value[0, 0]


def row(trace: Trace, step: str) -> Array:
    """A step's values along the first row, one for each feature."""
    import numpy as np

    values = trace[step].value[0]
    return np.broadcast_to(values, (trace.layout.n,))


def apart(a: Array, b: Array) -> float:
    """The largest difference between two arrays of numbers."""
    return max(abs(number(p) - number(q)) for p, q in zip(a.flat, b.flat, strict=True))
