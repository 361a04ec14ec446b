"""Slips: mistakes that are no wrong Spec, found by inference from the answer itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli import exact
from lnorm_cli.faults.candidates import epsilon_detail, short
from lnorm_cli.faults.infer import Line, epsilons, fit, points
from lnorm_cli.faults.problem import Problem
from lnorm_cli.faults.words import MOST_PLACES, outputs, some
from lnorm_cli.norm import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]


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
            room = answer.slack + t.layout.restore(problem.granted(t))
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
    if problem.answer.coarse:
        return None
    mirrored = elements_right(problem, -problem.answer.values)
    places = tuple(tuple(int(i) for i in index) for index in wrong)
    flipped = all(bool(mirrored[place]) for place in places)
    kind = "only the sign is wrong" if flipped else "all others are right"
    return Slip(("arithmetic-slip",), (f"{some(outputs(places))}: {kind}.",), "output", places)


def sign_of_all(problem: Problem) -> Slip | None:
    """Every element has the right size and the wrong sign."""
    if not elements_right(problem, -problem.answer.values).all():
        return None
    return Slip(("sign-flipped",), ("Every number has the right size and the opposite sign.",), "deviation")


def wrong_order(problem: Problem) -> Slip | None:
    """Each row holds the right values in another order."""
    import numpy as np

    if problem.answer.coarse:
        return None
    t = problem.run(problem.spec)
    given, right = t.layout.rows(problem.answer.values), t.layout.rows(t.output)
    if not np.isfinite(given).all() or np.ptp(right) == 0:
        return None
    room = t.layout.rows(problem.answer.slack)
    if problem.answer.unit is not None:
        room = room + problem.granted(t)
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
    end = "" if len(moved) > MOST_PLACES else "."
    return Slip(("wrong-order",), (f"{where}{some(moved)}{end}",), "output")


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
            return Slip(("epsilon-value",), (_fixed(value, exact.approximate(problem.eps)),), "variance_plus_epsilon")
    return None


def _fixed(value: Fraction, asked: Fraction) -> str:
    """The epsilon that the answer fixes beside the one asked for, told apart."""
    import numpy as np

    named, was = epsilon_detail(value), short(asked)
    if short(value) == was:
        named, was = f"epsilon {float(value)!r}", f"{float(asked)!r}"
    rounded = abs(float(np.float32(float(asked))) - float(value)) < 1e-8 * float(value)
    return f"The answer fixes {named}; {was} was asked for" + (", which in float32 is that." if rounded else ".")
