"""One early number wrong and everything after it right: which number, found from the answer itself.

The answer fixes the line (y - beta)/gamma = (x - m)/s: where all points lie on it, m or s is what was wrong; where one
stands off it, that x or its deviation was.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli import exact
from lnorm_cli.arithmetic import Exact
from lnorm_cli.errors import InputError
from lnorm_cli.faults.candidates import pieces
from lnorm_cli.faults.infer import Line, deviations_spec, fit, points, right_line, roundest, square
from lnorm_cli.faults.problem import Problem
from lnorm_cli.faults.slips import Slip
from lnorm_cli.faults.words import decimal, number
from lnorm_cli.norm import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

_MOST_POINTS = 64
_LEAST_POINTS = 3
_SURE_DIGITS = 4
"""With so many digits typed three points on a line are no chance."""


def carried_forward(problem: Problem) -> Iterator[Slip]:
    """One early number wrong and the rest right from there, on a problem of one row; with one affine fault as well."""
    if problem.answer.coarse:
        return
    _, affine = pieces(problem.spec, problem.x.shape, problem.eps)
    for piece in (None, *affine):
        spec = replace(problem.spec, **dict(piece.changes)) if piece else problem.spec
        variant = replace(problem, spec=spec)
        t = variant.run(spec)
        before = (piece.id,) if piece else ()
        for slip in _carried(variant, t):
            yield replace(slip, ids=(*before, *slip.ids))


def _carried(problem: Problem, t: Trace) -> Iterator[Slip]:
    p = points(problem, t, 0)
    if not _LEAST_POINTS <= len(p.z) <= _MOST_POINTS:
        return
    line = fit(p)
    if line is None:
        return
    if line.fits:
        yield from _statistic_slip(problem, t, line, len(p.z))
        return
    if problem.spec.numerator in ("centered", "raw") and len(p.z) > _LEAST_POINTS:
        yield from _element_slip(problem, t)


def _statistic_slip(problem: Problem, t: Trace, line: Line, count: int) -> Iterator[Slip]:
    """Every point on one line: the mean or the divisor is what is wrong."""
    mean, divisor = right_line(t, 0)
    mean_right = abs(line.mean - mean) <= line.mean_room
    sure = count > _LEAST_POINTS or problem.answer.digits >= _SURE_DIGITS
    if problem.spec.numerator == "centered" and not mean_right and sure:
        means = list(_means(problem, line, t.layout.n))
        fitting = (pair for pair in means if _fits_deviations(problem, _minus(problem.x, pair[0])))
        value, how = next(fitting, (None, ""))
        if value is not None:
            yield Slip(
                ("carried-forward",),
                (f"With {decimal(value)} for the mean{how} everything after it is right; it is {number(mean)}.",),
                "mean",
            )
        elif means and abs(line.divisor - divisor) <= line.divisor_room:
            yield Slip(
                ("carried-forward",),
                (f"{decimal(means[0][0])} was subtracted instead of the mean {number(mean)}; the divisor is right.",),
                "deviation",
            )
    if mean_right and line.divisor > 0:
        yield Slip(
            ("carried-forward",),
            (_divisor_words(t, line, divisor),),
            "variance" if "variance" in t else "mean_square",
        )


def _means(problem: Problem, line: Line, n: int) -> Iterator[tuple[Fraction, str]]:
    """Means that the answer may follow from, the short ones first, each with how one comes to it."""
    low, high = line.mean - line.mean_room, line.mean + line.mean_room
    short_one = roundest(low, high)
    if short_one is not None:
        yield short_one, ""
    total = sum(_rational(problem.x).flat, Fraction(0))
    if not isinstance(total, Fraction) or not math.isfinite(line.mean):
        return
    for count in (n - 1, n + 1):
        if count and low <= total / count <= high:
            yield total / count, f", the sum divided by {count} instead of {n},"
    step = next((Fraction(1, 10**k) for k in range(6) if (total * 10**k).denominator == 1), None)
    added = None if step is None else round(Fraction(line.mean) * n / step) * step
    if added is not None and low <= added / n <= high:
        yield added / n, f", a sum of {decimal(added)} instead of {decimal(total)},"


def _divisor_words(t: Trace, line: Line, divisor: float) -> str:
    """The divisor that the answer follows from, no finer than the answer fixes it, and what it would be."""
    name, spread = ("standard deviation", "variance")
    if "root_mean_square" in t:
        name, spread = ("root mean square", "mean square")
    low, high = line.divisor - line.divisor_room, line.divisor + line.divisor_room
    root, under = roundest(low, high), roundest(square(low), square(high))
    if root is None or under is None or low <= divisor <= high:
        return f"Everything follows from a {name} of {number(line.divisor)}; it is {number(divisor)}."
    squares = float(t[spread.replace(" ", "_")].value[0, 0]) * t.layout.n
    count = round(squares / float(under)) if under and math.isfinite(squares) else 0
    told = ""
    if 0 < count < 4 * t.layout.n and square(low) <= squares / count <= square(high):
        told = f": as if the sum of squares were divided by {count} instead of {t.layout.n}"
    return (
        f"Everything follows from a {name} of {decimal(root)} ({spread} plus epsilon {decimal(under)})"
        f"; it is {number(divisor)}{told}."
    )


def _element_slip(problem: Problem, t: Trace) -> Iterator[Slip]:
    """One point off the line of the others: x misread there, or its deviation wrong, and the rest from that."""
    import numpy as np

    p = points(problem, t, 0)
    for k in range(len(p.z)):
        kept = np.arange(len(p.z)) != k
        line = fit(replace(p, x=p.x[kept], z=p.z[kept], room=p.room[kept], index=p.index[kept]))
        if line is None or not line.fits:
            continue
        index = int(p.index[k])
        implied_x = line.mean + line.divisor * p.z[k]
        room = line.mean_room + abs(line.divisor) * p.room[k] + abs(p.z[k]) * line.divisor_room
        value = roundest(implied_x - room, implied_x + room)
        if value is None:
            continue
        x = _rational(problem.x)
        changed = x.copy()
        changed[index] = value
        if _fits(replace(problem, x=changed)):
            was = number(exact.to_float(x[index]))
            yield Slip(
                ("carried-forward",), (f"As if x[{index}] were {decimal(value)} instead of {was}.",), "x", ((index,),)
            )
            return
        if problem.spec.numerator == "raw":
            continue
        mean = Exact().array(t["mean"].value)[0, 0] if problem.x.dtype != object else None
        exact_mean = problem.run(problem.spec, Exact())["mean"].value[0, 0] if mean is None else mean
        deviations = _minus(x, exact_mean)
        low = line.divisor * p.z[k]
        wrong = roundest(low - room, low + room)
        if wrong is None:
            continue
        deviations[index] = wrong
        if _fits_deviations(problem, deviations):
            words = f"As if the deviation of x[{index}] were {decimal(wrong)} instead of "
            right = number(exact.to_float(_minus(x, exact_mean)[index]))
            yield Slip(("carried-forward",), (words + right + ".",), "deviation", ((index,),))
            return


def _rational(x: Array) -> Array:
    return Exact().array(x) if x.dtype != object else x


def _minus(x: Array, value: Any) -> Array:
    import numpy as np

    return Exact().subtract(_rational(x), np.array([value], dtype=object))


def _fits_deviations(problem: Problem, deviations: Array) -> bool:
    return _fits(replace(problem, x=deviations, spec=deviations_spec(problem.spec)))


def _fits(problem: Problem) -> bool:
    try:
        return problem.fits(problem.spec)
    except InputError:
        return False
