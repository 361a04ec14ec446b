"""Slips: mistakes that are no wrong Spec, found by inference from the answer itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli import exact
from lnorm_cli.arithmetic import Exact
from lnorm_cli.errors import InputError
from lnorm_cli.faults.candidates import epsilon_detail, pieces, short
from lnorm_cli.faults.condition import allowance
from lnorm_cli.faults.infer import Line, deviations_spec, epsilons, fit, points, right_line, roundest, square
from lnorm_cli.faults.problem import Problem
from lnorm_cli.faults.words import decimal, number
from lnorm_cli.norm import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

_MOST_PLACES = 6
"""Places named in one sentence."""
_MOST_POINTS = 64
_LEAST_POINTS = 3


@dataclass(frozen=True)
class Slip:
    """What was found: ids that act together, what they leave open, the first step that differs."""

    ids: tuple[str, ...]
    evidence: tuple[str, ...]
    first_step: str = ""
    indices: tuple[tuple[int, ...], ...] = field(default=())


def elements_right(problem: Problem, values: Array | None = None) -> Array:
    """For each element, whether the answer (or `values` for it) is right there, in the shape of x."""
    import numpy as np

    answer = problem.answer
    given = answer.values if values is None else values
    t = problem.run(problem.spec)
    result = t.output
    with np.errstate(all="ignore"):
        if answer.unit is not None:
            room = answer.slack + t.layout.restore(allowance(t, answer.unit, answer.dtype).total)
        else:
            room = answer.slack * (1 + 1e-9) + 2.0**-44 * np.abs(result)
        same = (np.isnan(given) & np.isnan(result)) | (given == result)
        return np.asarray(same | (np.abs(given - result) <= room))


def arithmetic_slip(problem: Problem) -> Slip | None:
    """In each row few elements wrong, all others right."""
    import numpy as np

    right = elements_right(problem)
    wrong = np.argwhere(~right)
    most = int((~problem.layout.rows(right)).sum(axis=-1).max())
    if problem.layout.n < 3 or not 0 < most <= max(1, problem.layout.n // 4):
        return None
    if problem.answer.typed and problem.answer.digits < 2:
        return None
    mirrored = elements_right(problem, -problem.answer.values)
    places = tuple(tuple(int(i) for i in index) for index in wrong)
    flipped = all(bool(mirrored[place]) for place in places)
    names = _some([f"y[{', '.join(map(str, place))}]" for place in places])
    kind = "only the sign is wrong" if flipped else "all others are right"
    return Slip(("arithmetic-slip",), (f"{names}: {kind}.",), "output", places)


def sign_of_all(problem: Problem) -> Slip | None:
    """Every element has the right size and the wrong sign."""
    if not elements_right(problem, -problem.answer.values).all():
        return None
    return Slip(("sign-flipped",), ("Every number has the right size and the opposite sign.",), "deviation")


def wrong_order(problem: Problem) -> Slip | None:
    """Each row holds the right values in another order."""
    import numpy as np

    if problem.answer.typed and problem.answer.digits < 2:
        return None
    t = problem.run(problem.spec)
    given, right = t.layout.rows(problem.answer.values), t.layout.rows(t.output)
    if not np.isfinite(given).all() or np.ptp(right) == 0:
        return None
    room = t.layout.rows(problem.answer.slack)
    if problem.answer.unit is not None:
        room = room + allowance(t, problem.answer.unit, problem.answer.dtype).total
    order = np.argsort(given, axis=-1), np.argsort(right, axis=-1)
    sorted_given, sorted_right = (np.take_along_axis(a, o, -1) for a, o in zip((given, right), order, strict=True))
    near = np.abs(sorted_given - sorted_right) <= np.take_along_axis(room, order[0], -1) * (1 + 1e-9) + 1e-12 * np.abs(
        sorted_right
    )
    if not near.all():
        return None
    row = int(np.argmax((np.abs(given - right) > room).any(axis=-1)))
    moved = [
        f"y[{int(a)}] holds the value of y[{int(b)}]"
        for a, b in sorted(zip(order[0][row], order[1][row], strict=True))
        if a != b and abs(right[row, a] - right[row, b]) > room[row, a]
    ]
    if not moved:
        return None
    where = f"In row {problem.layout.index(row)} " if len(given) > 1 else ""
    end = "" if len(moved) > _MOST_PLACES else "."
    return Slip(("wrong-order",), (f"{where}{_some(moved)}{end}",), "output")


def _some(places: list[str]) -> str:
    """The first of them, and whether there are more."""
    return ", ".join(places[:_MOST_PLACES]) + (", ..." if len(places) > _MOST_PLACES else "")


def other_step(problem: Problem) -> Slip | None:
    """The values of another step, right in themselves."""
    import numpy as np

    t = problem.run(problem.spec)
    for step in t.steps:
        if step.name == problem.step or (step.name == "x" and problem.step != "output"):
            continue
        given = problem.answer.values if problem.step != "output" else t.layout.rows(problem.answer.values)
        if step.value.shape != given.shape:
            continue
        slack = problem.answer.slack if problem.step != "output" else t.layout.rows(problem.answer.slack)
        room = slack * (1 + 1e-9) + (problem.answer.unit or 2.0**-46) * 16 * np.abs(step.value)
        with np.errstate(all="ignore"):
            if np.all(np.abs(given - step.value) <= room):
                names = step.name.replace("_", " "), problem.step.replace("_", " ")
                return Slip(
                    ("other-step",), (f"These are the values of the step {names[0]}, not {names[1]}.",), step.name
                )
    return None


def implied(problem: Problem, row: int, t: Trace | None = None) -> Line | None:
    """The line through one row of the answer, gamma and beta entering as in `t` (default: as asked)."""
    t = t or problem.run(problem.spec)
    return fit(points(problem, t, row))


def another_epsilon(problem: Problem, row: int) -> Slip | None:
    """An epsilon in no library's list, pinned down by the answer."""
    t = problem.run(problem.spec)
    line = implied(problem, row, t)
    if line is None or not line.fits:
        return None
    for value in epsilons(problem, line, t):
        if value != problem.eps and problem.fits(problem.spec, value):
            evidence = (
                f"The answer fixes {epsilon_detail(value)}; {short(exact.approximate(problem.eps))} was asked for."
            )
            return Slip(("epsilon-value",), (evidence,), "variance_plus_epsilon")
    return None


def carried_forward(problem: Problem) -> Iterator[Slip]:
    """One early number wrong and the rest right from there, on a problem of one row; with one affine fault as well."""
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
    if problem.spec.numerator == "centered" and len(p.z) > _LEAST_POINTS:
        yield from _element_slip(problem, t)


def _statistic_slip(problem: Problem, t: Trace, line: Line, count: int) -> Iterator[Slip]:
    """Every point on one line: the mean or the divisor is what is wrong."""
    mean, divisor = right_line(t, 0)
    mean_right = abs(line.mean - mean) <= line.mean_room
    if problem.spec.numerator == "centered" and not mean_right and count > _LEAST_POINTS:
        value = roundest(line.mean - line.mean_room, line.mean + line.mean_room)
        if value is not None and _fits_deviations(problem, _minus(problem.x, value)):
            yield Slip(
                ("carried-forward",),
                (f"With {decimal(value)} for the mean everything after it is right; it is {number(mean)}.",),
                "mean",
            )
        elif value is not None and abs(line.divisor - divisor) <= line.divisor_room:
            yield Slip(
                ("carried-forward",),
                (f"{decimal(value)} was subtracted instead of the mean {number(mean)}; the divisor is right.",),
                "deviation",
            )
    if mean_right and line.divisor > 0:
        words = "root mean square" if "root_mean_square" in t else "standard deviation"
        yield Slip(
            ("carried-forward",),
            (
                f"Everything follows from a {words} of {number(line.divisor)} "
                f"(variance plus epsilon {number(square(line.divisor))}); it is {number(divisor)}.",
            ),
            "variance" if "variance" in t else "mean_square",
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
