"""Answers that are right but for rounding: digits cut off, or rounded on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.arithmetic import Exact
from lnorm_cli.errors import InputError
from lnorm_cli.exact import approximate
from lnorm_cli.faults.candidates import Candidate, combine, pieces
from lnorm_cli.faults.condition import divisor_of
from lnorm_cli.faults.problem import Problem
from lnorm_cli.faults.rounding import Habit, Rounded, habits, truncated, usual_habits
from lnorm_cli.norm import Spec, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

SPREADS = ("variance", "mean_square", "mean_absolute_deviation")
MOST_ELEMENTS = 200
MOST_DIGITS = 10
NEAR = 0.25
"""How far, relative to the largest value, rounding on the way is looked for."""


def coarse(problem: Problem) -> bool:
    """Whether a right answer was typed with one digit, and is not exactly right (with or without epsilon)."""
    answer = problem.answer
    if answer.digits > 1 or answer.symbolic or answer.half is None:
        return False
    strict = replace(problem, answer=replace(answer, half=answer.half * 0))
    for spec in (problem.spec, replace(problem.spec, epsilon="omitted")):
        try:
            if strict.fits(spec):
                return False
        except InputError:
            continue
    return True


def cut_off(problem: Problem) -> bool:
    """Whether every number is the right one, some of them with their further digits cut off instead of rounded."""
    answer = problem.answer
    if not problem.exactly or answer.digits < 2 or not _all_finite(problem):
        return False
    try:
        t = problem.run(problem.spec, Exact())
    except InputError:
        return False
    assert answer.exact is not None
    assert answer.half is not None
    values = (approximate(value) for value in t.output.flat)
    return all(
        half and (truncated(given, value, half) or abs(given - value) <= half)
        for given, value, half in zip(answer.exact.flat, values, answer.half.flat, strict=True)
    )


def rounded_right(problem: Problem, harmful: bool) -> Habit | None:
    """The habit of rounding on the way that turns the right method into this answer, if there is one.

    Harmless are habits that keep at least as many decimals, or significant digits, as the answer shows.
    """
    if not _worth_trying(problem):
        return None
    for spec in (problem.spec, *_other_algebra(problem.spec)):
        tried = habits(*_shown(problem)) if spec == problem.spec else usual_habits(*_shown(problem))
        for habit in _within_reach(problem, problem.run(spec), tried):
            if _harmless(habit, problem) != harmful and _comes_out(problem, spec, problem.eps, habit):
                return habit
    return None


def rounded_fault(problem: Problem) -> tuple[Candidate, Habit] | None:
    """A single fault, one that shows, together with one of the usual habits of rounding on the way."""
    import numpy as np

    if not _worth_trying(problem):
        return None
    statistics, affine = pieces(problem.spec, problem.x.shape, problem.eps)
    single = [combine([piece], problem.spec, problem.eps) for piece in (*statistics, *affine)]
    right, least = problem.run(problem.spec).output, float(problem.answer.slack.min())
    seen: list[Array] = [right]
    for candidate in sorted((c for c in single if c is not None), key=lambda c: c.rarity):
        try:
            t = problem.run(candidate.spec, None, candidate.eps)
        except InputError:
            continue
        with np.errstate(all="ignore"):
            if any(np.max(np.abs(t.output - other)) <= 0.1 * least for other in seen):
                continue  # what does not show needs no name
        seen.append(t.output)
        for habit in _within_reach(problem, t, usual_habits(*_shown(problem))):
            if _comes_out(problem, candidate.spec, candidate.eps, habit):
                return candidate, habit
    return None


def _within_reach(problem: Problem, t: Trace, tried: Iterable[Habit]) -> Iterator[Habit]:
    """Habits whose rounding can move the trace's output as far as the answer is."""
    import numpy as np

    with np.errstate(all="ignore"):
        off = np.abs(problem.answer.values - t.output) - problem.answer.slack * (1 + 1e-9)
        if not np.isfinite(off).all() or off.max() > NEAR * np.abs(t.output).max() + 8 * problem.answer.slack.max():
            return
        reach: dict[tuple[int, bool], bool] = {}
        for habit in tried:
            key = habit.digits, habit.significant
            if key not in reach:
                reach[key] = bool(np.all(off <= t.layout.restore(_reach(t, *key))))
            if reach[key]:
                yield habit


def _reach(t: Trace, digits: int, significant: bool) -> Array:
    """A bound on what rounding every step may do to the output: half a unit in each, carried through."""
    import numpy as np

    x, z, gamma = t["x"].value, np.abs(t["normalized"].value), np.abs(t.parameters["gamma"])
    size, output = np.abs(x).max(axis=-1, keepdims=True), np.abs(t.steps[-1].value)
    divisor = np.abs(divisor_of(t))
    spread = next(t[name].value for name in SPREADS if name in t)
    if significant:
        relative = 5 * 10.0**-digits
        common = 2 * relative * size / divisor * ("mean" in t)
        divided = 4 * relative + 2 * common + common**2
        return np.asarray(2 * (gamma * (common + z * (divided + relative)) + relative * (output + gamma * z)))
    unit = 0.5 * 10.0**-digits
    relative_divisor = unit * (2 + 2 * size) / np.abs(spread) + unit / divisor + unit * divisor
    relative_divisor = np.where(relative_divisor < 0.5, relative_divisor, np.inf)
    return np.asarray(2 * (gamma * (2 * unit / divisor + z * relative_divisor + unit) + 2 * unit))


def _other_algebra(spec: Spec) -> Iterator[Spec]:
    if spec.spread == "variance":
        yield replace(spec, spread="one-pass")


def _shown(problem: Problem) -> tuple[int, int]:
    """Decimals and significant digits of the answer."""
    assert problem.answer.half is not None
    units = [2 * half for half in problem.answer.half.flat if half]
    decimals = max((len(str(unit.denominator)) - len(str(unit.numerator)) for unit in units), default=0)
    return max(0, decimals), problem.answer.digits


def _harmless(habit: Habit, problem: Problem) -> bool:
    decimals, significant = _shown(problem)
    return habit.digits >= (significant if habit.significant else decimals)


def _worth_trying(problem: Problem) -> bool:
    answer = problem.answer
    small = answer.typed and problem.exactly and problem.x.size <= MOST_ELEMENTS
    return small and 2 <= answer.digits <= MOST_DIGITS and not answer.symbolic and _all_finite(problem)


def _all_finite(problem: Problem) -> bool:
    import numpy as np

    return bool(np.isfinite(problem.answer.values).all())


def _comes_out(problem: Problem, spec: Spec, eps: Any, habit: Habit) -> bool:
    """Whether the Spec, worked out with that habit, gives the answer at the digits typed."""
    try:
        t = problem.run(spec, Rounded(habit), eps)
    except (InputError, ZeroDivisionError):
        return False
    return any(_matches(problem, t, rows, habit.ties == "cut") for rows in _last_unrounded(t))


def _last_unrounded(t: Trace) -> Iterator[Array]:
    """The output with its last operation not rounded: the answer's own digits round it."""
    exactly = Exact()
    gamma, beta = t.parameters["gamma"], t.parameters["beta"]
    if "scaled" not in t:
        yield exactly.multiply(t["shifted"].value, gamma)
        return
    yield exactly.add(t["scaled"].value, beta)
    yield exactly.add(exactly.multiply(t["normalized"].value, gamma), beta)


def _matches(problem: Problem, t: Trace, rows: Array, cut: bool) -> bool:
    answer = problem.answer
    assert answer.exact is not None
    assert answer.half is not None
    given, half = t.layout.rows(answer.exact), t.layout.rows(answer.half)
    triples = [(a, approximate(b), room) for a, b, room in zip(given.flat, rows.flat, half.flat, strict=True)]
    return all(truncated(a, b, room) if cut and room else abs(a - b) <= room for a, b, room in triples)
