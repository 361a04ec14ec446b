"""From a problem to its diagnosis: judged, then put into sentences and the numbers that the answer implies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.errors import UndefinedError
from lnorm_cli.faults import slips
from lnorm_cli.faults.answer import Answer
from lnorm_cli.faults.catalogue import fault
from lnorm_cli.faults.diagnosis import Diagnosis, Worst
from lnorm_cli.faults.finding import Finding
from lnorm_cli.faults.infer import Line, right_line
from lnorm_cli.faults.judge import find
from lnorm_cli.faults.problem import Problem
from lnorm_cli.faults.words import first_difference, hidden, how_compared, right_ones, separating
from lnorm_cli.norm import Spec, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

_OPENING = {
    "correct": "Correct.",
    "rounded": "Right, but for rounding on the way.",
    "wrong": "Wrong.",
    "undecided": "Undecided.",
}


def check_shape(answer: Answer, shape: tuple[int, ...] | None) -> Diagnosis | None:
    """A diagnosis of `malformed` where the answer has not the shape of x: nothing is ever broadcast."""
    given = answer.values.shape
    if answer.values.size == 0:
        return malformed("The answer is empty.", "give one number for each number of x")
    if shape is None or given == shape:
        return None
    if len(given) == 1 and len(shape) == 1:
        numbers = "number" if given[0] == 1 else "numbers"
        return malformed(
            f"The answer has {given[0]} {numbers}, x has {shape[0]}.", "give one number for each number of x"
        )
    return malformed(f"The answer has shape {given}, x has shape {shape}.", "give the answer in the shape of x")


def malformed(message: str, mend: str) -> Diagnosis:
    """Not an answer: nothing to be judged."""
    return Diagnosis("malformed", message, mend=mend)


def conclude(problem: Problem, *, symbolic_zero: bool = False) -> Diagnosis:
    """Judge the answer and put the finding into words and numbers."""
    require_defined(problem)
    found = find(problem)
    if symbolic_zero and found.verdict == "wrong" and problem.answer.is_exact:
        by_hand = replace(problem, eps=Fraction(0))
        zero = find(by_hand)
        if zero.verdict != "wrong" or zero.faults:
            note = "The answer is exact, so it was judged with epsilon 0; name --eps to have epsilon judged as well."
            return in_words(by_hand, replace(zero, notes=(*zero.notes, note)))
    if symbolic_zero and "epsilon-omitted" in found.faults and problem.answer.symbolic:
        note = "The answer is exact for epsilon 0; name --eps to have epsilon judged as well."
        others = tuple(name for name in found.faults if name != "epsilon-omitted")
        found = replace(found, faults=others, candidates=(), notes=(*found.notes, note))
        found = found if others else Finding("correct", notes=(note,))
    elif symbolic_zero and found.faults == ("epsilon-omitted",):
        found = replace(found, notes=(*found.notes, "With epsilon 0 it is right: --eps 0 asks for that."))
    return in_words(problem, found)


def require_defined(problem: Problem) -> None:
    """UndefinedError where every row of the right result is 0/0."""
    import numpy as np

    if problem.eps == 0 and problem.step == "output":
        t = problem.run(problem.spec)
        if np.isnan(t["normalized"].value).all() and np.isfinite(t["x"].value).all():
            raise UndefinedError(
                "every row is constant and epsilon is 0, so the right answer is 0/0: it does not exist",
                hint="with an epsilon above 0 the answer is beta",
            )


def in_words(problem: Problem, found: Finding) -> Diagnosis:
    """The diagnosis of a finding: sentences, implied numbers, the first step that differs."""
    right = problem.run(problem.spec)
    judged = found.tolerance_of or problem
    diagnosis = Diagnosis(
        found.verdict,  # type: ignore[arg-type]
        message(problem.spec, found),
        found.faults,
        found.alternatives,
        evidence=found.evidence,
        notes=found.notes,
        tolerance=how_compared(judged),
    )
    if found.verdict == "correct":
        return replace(diagnosis, notes=(*found.notes, *hidden(problem, found.candidates)))
    mend = " ".join(dict.fromkeys(fault(name).mend for name in found.faults))
    if found.verdict == "wrong" and not found.faults:
        mend = "Set your steps beside those of lnorm compute. Were there a gamma, a beta or another epsilon to name?"
    diagnosis = replace(diagnosis, mend=mend, first_step=_first_step(problem, found, right))
    if found.verdict == "undecided" or found.alternatives:
        diagnosis = replace(diagnosis, tell_apart=_apart(problem, found))
    return _with_numbers(diagnosis, problem, right)


def message(spec: Spec, found: Finding) -> str:
    """Verdict and what happened."""
    opening = _OPENING[found.verdict]
    sentences = " ".join(fault(name).sentence(spec) for name in found.faults if name != "rounded-intermediate")
    if found.verdict == "undecided":
        names = ", ".join(found.alternatives) or "a mistake"
        return f"{opening} The right answer, and {names}, give these digits alike."
    if found.verdict == "wrong" and not found.faults:
        return f"{opening} No known mistake explains these numbers."
    if "rounded-intermediate" in found.faults and found.verdict == "wrong":
        sentences = f"{sentences} Numbers were rounded on the way.".strip()
    return f"{opening} {sentences}".strip()


def _first_step(problem: Problem, found: Finding, right: Trace) -> str:
    if found.first_step:
        return found.first_step
    if found.wrong is not None:
        return first_difference(right, found.wrong)
    if found.candidates and found.verdict == "wrong":
        best = found.candidates[0]
        return first_difference(right, problem.run(best.spec, None, best.eps))
    return ""


def _apart(problem: Problem, found: Finding) -> str:
    return separating(found.candidates[:6], problem.spec, problem.eps)


def _with_numbers(diagnosis: Diagnosis, problem: Problem, right: Trace) -> Diagnosis:
    """The implied mean and standard deviation of the first wrong row, and the element furthest off."""
    import numpy as np

    if problem.step != "output":
        return diagnosis
    given, output = right.layout.rows(problem.answer.values), right.layout.rows(right.output)
    with np.errstate(all="ignore"):
        off = np.abs(given - output)
        off = np.where(np.isnan(off) & ~(np.isnan(given) & np.isnan(output)), np.inf, np.nan_to_num(off, nan=0.0))
    flat = int(np.argmax(right.layout.restore(off)))
    index = tuple(int(i) for i in np.unravel_index(flat, problem.x.shape))
    worst = Worst(index, float(problem.answer.values[index]), float(right.output[index]))
    row = int(np.argmax(np.where(np.isfinite(off), off, 0).max(axis=-1)))
    line = slips.implied(problem, row, right)
    diagnosis = replace(diagnosis, worst=worst, row=right.layout.index(row))
    if line is None or set(diagnosis.faults) & {"arithmetic-slip", "wrong-order", "other-step"}:
        return diagnosis
    if not line.fits and (diagnosis.faults or not np.isfinite([line.mean, line.divisor, *given[row]]).all()):
        return diagnosis
    mean, divisor = right_line(right, row)
    near = line.fits or _sensible(line, right["x"].value[row], divisor)
    exactly = "carried-forward" in diagnosis.faults  # there the two are what the explanation is about
    least = 1e-9 * abs(divisor) if exactly else line.mean_room
    own = line.mean if abs(line.mean - mean) > least else mean
    same = not exactly and abs(line.divisor - divisor) <= line.divisor_room
    if not diagnosis.faults and diagnosis.verdict == "wrong":
        parted = "mean" if own != mean else "" if same else "variance"
        places = np.argwhere(slips.elements_right(problem)).tolist()
        diagnosis = _unexplained(diagnosis, line, parted, near, places)
    if not near:
        return diagnosis
    return replace(
        diagnosis,
        implied={"mean": _tidy(own, line.mean_room), "standard_deviation": divisor if same else line.divisor},
        right={"mean": mean, "standard_deviation": divisor},
    )


def _sensible(line: Line, x: Array, divisor: float) -> bool:
    """Whether a line that misses the points still says something: a mean near the row, a divisor of the right order."""
    spread = float(x.max() - x.min())
    if not (math.isfinite(line.mean) and math.isfinite(line.divisor) and divisor and math.isfinite(divisor)):
        return False
    return x.min() - spread <= line.mean <= x.max() + spread and 0.05 <= line.divisor / divisor <= 20


def _unexplained(
    diagnosis: Diagnosis, line: Line, parted: str, near: bool, places: Sequence[Sequence[int]]
) -> Diagnosis:
    """Where no known mistake fits: what the numbers imply, the step where they `parted` from the right ones.

    `places` are the elements that are right.
    """
    if line.fits:
        return replace(diagnosis, first_step=parted)
    sentence = "No one mean and standard deviation give all these numbers" + (
        "; the nearest are shown." if near else "."
    )
    return replace(diagnosis, first_step="normalized", evidence=(*diagnosis.evidence, *right_ones(places), sentence))


def _tidy(value: float, room: float) -> float:
    """0 where it cannot be told from 0."""
    return 0.0 if abs(value) <= max(room, 1e-12) and abs(value) < 1e-6 else value
