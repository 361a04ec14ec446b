"""What an answer implies: the line (y - beta)/gamma = (x - m)/s through its points gives m and s.

That explains mistakes nobody has catalogued: one early number wrong and the rest right from there, another epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.faults.condition import divisor_of
from lnorm_cli.faults.problem import Problem
from lnorm_cli.norm import Spec, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

USUAL = Fraction(1, 100)
"""Epsilons up to this size need not be round to be believed."""


@dataclass(frozen=True)
class Line:
    """m and s of one row, each with how far it is uncertain, and whether every point lies on the line."""

    row: int
    mean: float
    divisor: float
    mean_room: float
    divisor_room: float
    fits: bool


@dataclass(frozen=True)
class Points:
    """The points of one row that gamma does not hide, x less the row's mean, and their room."""

    row: int
    center: float
    x: Array
    z: Array
    room: Array
    index: Array


def points(problem: Problem, t: Trace, row: int) -> Points:
    """The points (x, (y - beta)/gamma) of a row; `t` is a float64 trace that says how gamma and beta enter."""
    import numpy as np

    given = t.layout.rows(problem.answer.values)[row]
    slack = t.layout.rows(problem.answer.slack)[row]
    whole = t["x"].value.shape
    gamma, beta = (np.broadcast_to(t.parameters[name], whole)[row] for name in ("gamma", "beta"))
    x = t["x"].value[row]
    kept = (gamma != 0) & np.isfinite(given)
    center = float((np.min(x) + np.max(x)) / 2)
    unit = problem.answer.unit or 2.0**-52
    with np.errstate(all="ignore"):
        if t.spec.affine == "shift-scale":
            z, size = given / gamma - beta, np.abs(given / gamma) + np.abs(beta)
        else:
            z, size = (given - beta) / gamma, (np.abs(given) + np.abs(beta)) / np.abs(gamma)
        room = slack / np.abs(gamma) * (1 + 1e-9) + 8 * unit * size
    return Points(row, center, x[kept] - center, z[kept], room[kept] + 1e-300, np.flatnonzero(kept))


def fit(p: Points) -> Line | None:
    """The line through the points: weighted least squares, then towards the smallest largest misfit."""
    import numpy as np

    if len(p.z) < 2 or np.ptp(p.x) == 0:
        return None
    weight = (p.room.min() / p.room) ** 2 + 1e-12
    slope = offset = 0.0
    for _ in range(40):
        total = weight.sum()
        middle = (weight * p.x).sum() / total
        spread = (weight * (p.x - middle) ** 2).sum()
        if spread == 0:
            return None
        slope = float((weight * (p.x - middle) * p.z).sum() / spread)
        offset = float((weight * p.z).sum() / total - slope * middle)
        misfit = np.abs(p.z - slope * p.x - offset) / p.room
        if misfit.max() <= 1 or len(p.z) > 64:
            break
        weight = weight * (misfit / misfit.max() + 1e-3)  # Lawson's iteration for the minimax fit
        weight = weight / weight.max() + 1e-15
    if slope == 0 or not np.isfinite(slope):
        return None
    ends = np.ptp(p.x)
    slope_room = float(2 * np.max(p.room) / ends)
    divisor = 1 / slope
    mean_room = float(np.max(p.room) * abs(divisor) + abs(offset) * square(divisor) * slope_room)
    return Line(
        p.row,
        p.center - offset * divisor,
        divisor,
        mean_room,
        abs(divisor) * slope_room / abs(slope),
        bool(misfit.max() <= 1 + 1e-9),
    )


def right_line(t: Trace, row: int) -> tuple[float, float]:
    """What the trace subtracts and divides by in this row."""
    divisor = divisor_of(t)
    mean = float(t["mean"].value[row, 0]) if "mean" in t and t.spec.numerator != "raw" else 0.0
    return mean, float(divisor[min(row, len(divisor) - 1), 0])


def square(a: float) -> float:
    """a^2, infinite where float64 ends: ** would raise there."""
    return a * a


def roundest(low: float, high: float) -> Fraction | None:
    """The number with the fewest decimals between the two, limits included; None where that takes over 12 digits.

    None also where a limit is beyond float64.
    """
    if not -math.inf < low <= high < math.inf:
        return None
    if low <= 0 <= high:
        return Fraction(0)
    exponent = 0
    size = max(abs(low), abs(high))
    while Fraction(10) ** exponent > Fraction(size):
        exponent -= 1
    while Fraction(10) ** (exponent + 1) <= Fraction(size):
        exponent += 1
    for digits in range(12):
        unit = Fraction(10) ** (exponent - digits)
        count = -(-Fraction(low) // unit)
        if count * unit <= Fraction(high):
            middle = round((Fraction(low) + Fraction(high)) / 2 / unit)
            return (middle if low <= middle * unit <= high else count) * unit
    return None


def deviations_spec(spec: Spec) -> Spec:
    """The Spec that normalizes numbers from which the mean is already taken."""
    from dataclasses import replace

    return replace(spec, numerator="raw", spread="mean-square")


def epsilons(problem: Problem, line: Line, t: Trace) -> Iterator[Fraction]:
    """Epsilons that would explain the line's divisor, where they are pinned down: of a usual size, or one digit."""
    variance = float(t["variance" if "variance" in t else "mean_square"].value[line.row, 0])
    low = square(line.divisor - line.divisor_room) - variance
    high = square(line.divisor + line.divisor_room) - variance
    noise = 4e-16 * variance
    value = roundest(low - noise, high + noise)
    if (
        value is not None
        and value > 0
        and high - low <= 0.5 * float(value)
        and (value <= USUAL or _is_one_digit(value))
    ):
        yield value


def _is_one_digit(value: Fraction) -> bool:
    """Whether the value is a digit times a power of ten, as an epsilon that somebody chose would be."""
    digits = f"{float(value):.12e}".partition("e")[0].rstrip("0")
    return len(digits) == 2
