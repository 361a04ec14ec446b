"""From an answer to a diagnosis: is it right, right but for rounding, or which mistake explains it.

Order of explanations: right as typed; right at the precision of the floating-point type it shows; right with digits cut
off or rounded on the way; one fault; one fault and rounding on the way; bits of a precision fault; two faults; three;
single rows; another epsilon; elements off, out of order, of another step; one early number wrong. What fits first
with the fewest faults is the explanation, all that fit equally well are named, and when a harmless and a harmful
explanation fit alike the verdict is `undecided`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.faults import slips
from lnorm_cli.faults.candidates import Candidate, combine, pieces
from lnorm_cli.faults.catalogue import fault
from lnorm_cli.faults.infer import right_line
from lnorm_cli.faults.precision import by_size, reproduced
from lnorm_cli.faults.problem import Problem
from lnorm_cli.faults.rounding import Habit
from lnorm_cli.faults.roundings import coarse, cut_off, rounded_fault, rounded_right
from lnorm_cli.faults.search import levels
from lnorm_cli.faults.words import happened, joined
from lnorm_cli.norm import Trace, row_spec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

PAIR_DIGITS, TRIPLE_DIGITS = 6, 16
"""Digits typed in all that two, and three, faults together need for evidence."""

ROWS_ALONE = 4
"""Rows without a common explanation that are looked at one by one."""

MOST_HIDDEN = 64
"""Up to this many elements a right answer is tried against single faults, to say what x hides."""


@dataclass(frozen=True)
class Finding:
    """What was found out; `candidates` are the explanations that are wrong Specs, best first."""

    verdict: str
    faults: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    first_step: str = ""
    wrong: Trace | None = None
    tolerance_of: Problem | None = None


def find(problem: Problem) -> Finding:
    """The verdict on an answer, with its explanation."""
    rows = problem.fitting_rows(problem.spec)
    if rows.all():
        return _right(problem)
    if problem.step != "output":
        return _step(problem)
    if problem.answer.typed:
        harmless = _harmless(problem)
        singles = next(levels(problem, 1))
        if harmless is not None:
            return _undecided(harmless, singles) if singles else replace(harmless, alternatives=_names(_pairs(problem)))
        found = _typed(problem, singles)
    else:
        found = _array(problem, rows)
    return found or _inferred(problem, rows) or Finding("wrong")


def _right(problem: Problem) -> Finding:
    small = problem.x.size <= MOST_HIDDEN
    fitting = next(levels(problem, 1)) if small else []
    if problem.answer.typed and coarse(problem):
        others = [c for c in fitting if fault(c.ids[0]).group != "affine"]
        note = "One digit is too little to judge by: type two or more."
        return Finding("undecided", (), _names(others), (), (note,), tuple(others))
    return Finding("correct", candidates=tuple(fitting))


def _undecided(harmless: Finding, singles: Sequence[Candidate]) -> Finding:
    """A right answer with some rounding, and a mistake, give the same digits."""
    return replace(harmless, verdict="undecided", faults=(), alternatives=_names(singles), candidates=tuple(singles))


def _harmless(problem: Problem) -> Finding | None:
    """Right at a floating-point type's precision, cut off, or rounded on the way."""
    dtype = problem.answer.plausible_dtype()
    if dtype:
        shorter = replace(problem, answer=problem.answer.at(dtype))
        if dtype in ("float16", "bfloat16"):
            shorter = at_dtype(shorter, dtype)
        if shorter.fits(shorter.spec):
            note = f"The numbers are those of a {dtype} computation: right to its precision."
            return Finding("correct", notes=(note,), tolerance_of=shorter)
    if cut_off(problem):
        note = "The digits were cut off, not rounded."
        return Finding("rounded", ("rounded-intermediate",), notes=(note,))
    habit = rounded_right(problem, harmful=False)
    if habit is not None:
        return Finding("rounded", ("rounded-intermediate",), evidence=(f"With {habit.words} it comes out so.",))
    return None


def at_dtype(problem: Problem, dtype: str) -> Problem:
    """The problem with x, gamma and beta rounded to a floating-point type first."""
    from lnorm_cli.arithmetic import Float

    arithmetic = Float(dtype)
    return replace(
        problem, x=arithmetic.array(problem.x), gamma=arithmetic.array(problem.gamma), beta=arithmetic.array(problem.beta)
    )


def _typed(problem: Problem, singles: list[Candidate]) -> Finding | None:
    if singles:
        return explained(_sharpest(problem, singles))
    slip = slips.sign_of_all(problem)
    if slip is not None:
        return _of_slip(slip)
    habit = rounded_right(problem, harmful=True)
    if habit is not None:
        evidence = f"With {habit.words} it comes out so, too few for the digits of the answer."
        return Finding("wrong", ("rounded-intermediate",), _names(_pairs(problem)), (evidence,))
    slip = slips.arithmetic_slip(problem) or slips.wrong_order(problem) or slips.other_step(problem)
    if slip is not None:
        return _of_slip(slip)
    rounded = rounded_fault(problem)
    if rounded is not None:
        return _with_rounding(*rounded, _pairs(problem))
    several = _several(problem)
    if several is not None:
        return several
    precision = reproduced(problem)
    if precision is not None:
        return Finding("wrong", (precision.id,), evidence=(precision.evidence,), wrong=precision.trace)
    return None


def _pairs(problem: Problem) -> list[Candidate]:
    """Two faults together that fit, where the digits given can bear two."""
    return list(levels(problem, 2))[1] if _borne(problem) >= PAIR_DIGITS else []


def _with_rounding(candidate: Candidate, habit: Habit, pairs: list[Candidate]) -> Finding:
    """One fault and rounding on the way; where two faults fit as they are typed, those first."""
    rounded = (*candidate.ids, "rounded-intermediate")
    if pairs:
        found = explained(pairs)
        return replace(found, alternatives=(*found.alternatives, joined(rounded)))
    found = explained([candidate])
    return replace(found, faults=rounded, evidence=(*found.evidence, f"And {habit.words}."))


def _borne(problem: Problem) -> int:
    """Digits typed in all, which bound how many faults an explanation may use."""
    return problem.answer.digits * problem.x.size if problem.answer.typed and not problem.answer.symbolic else 1000


def _array(problem: Problem, rows: Array) -> Finding | None:
    precision = reproduced(problem)
    singles = next(levels(problem, 1))
    if precision is not None:
        return Finding(
            "wrong", (precision.id,), _names(singles), (precision.evidence,), candidates=tuple(singles), wrong=precision.trace
        )
    if singles:
        return explained(singles)
    slip = slips.sign_of_all(problem) or slips.arithmetic_slip(problem) or slips.wrong_order(problem)
    slip = slip or slips.other_step(problem)
    if slip is not None:
        return _of_slip(slip)
    found = _several(problem)
    if found is not None:
        return found
    precision = by_size(problem, rows)
    return Finding("wrong", (precision.id,), evidence=(precision.evidence,)) if precision else None


def _several(problem: Problem) -> Finding | None:
    """Two or three faults together, as many as the digits given can bear."""
    most = 3 if _borne(problem) >= TRIPLE_DIGITS else 2 if _borne(problem) >= PAIR_DIGITS else 1
    for count, found in enumerate(levels(problem, most), start=1):
        if count > 1 and found:
            return explained(_sharpest(problem, found))
    return None


def _sharpest(problem: Problem, found: list[Candidate]) -> list[Candidate]:
    """Where few digits were typed, the candidates that give exactly the typed numbers, if any do."""
    if not problem.answer.typed or problem.answer.digits > 2 or len(found) < 2:
        return found
    answer = problem.answer
    assert answer.half is not None
    strict = replace(problem, answer=replace(answer, half=answer.half * 0))
    return [c for c in found if strict.fits(c.spec, c.eps)] or found


def explained(found: Sequence[Candidate], verdict: str = "wrong") -> Finding:
    """The first of equally good explanations as the faults, the others as alternatives."""
    best = found[0]
    return Finding(
        verdict, best.ids, _names(found[1:], best), tuple(f"{d[0].upper()}{d[1:]}." for d in best.details), (), tuple(found)
    )


def _names(found: Sequence[Candidate], best: Candidate | None = None) -> tuple[str, ...]:
    skip = {best.ids} if best else set()
    return tuple(dict.fromkeys(joined(c.ids) for c in found if c.ids not in skip))


def _of_slip(slip: slips.Slip) -> Finding:
    return Finding("wrong", slip.ids, evidence=slip.evidence, first_step=slip.first_step)


def _inferred(problem: Problem, rows: Array) -> Finding | None:
    import numpy as np

    wrong = np.flatnonzero(~rows)
    if len(rows) != problem.layout.count:
        return None
    slip = slips.another_epsilon(problem, int(wrong[0]))
    if slip is not None:
        return _of_slip(slip)
    if len(rows) > 1 and len(wrong) < len(rows) and problem.layout.reduced == (problem.x.ndim - 1,):
        return _of_rows(problem, wrong)
    if len(rows) > 1 and problem.layout.reduced == (problem.x.ndim - 1,):
        return _row_by_row(problem, wrong)
    if len(rows) == 1:
        found = list(slips.carried_forward(rows_of(problem, wrong)))
        if found:
            best = min(found, key=lambda slip: len(slip.ids))
            others = [joined(s.ids) for s in found if len(s.ids) == len(best.ids) and s.ids != best.ids]
            more = [line for s in found if s.ids == best.ids and s is not best for line in s.evidence]
            return replace(_of_slip(best), alternatives=tuple(dict.fromkeys(others)), evidence=(*best.evidence, *more))
    return None


def _of_rows(problem: Problem, wrong: Array) -> Finding | None:
    """The diagnosis of the wrong rows alone, where other rows are right."""
    found = find(rows_of(problem, wrong))
    where = ", ".join(str(problem.layout.index(int(row))) for row in wrong[:8]) + (", ..." if len(wrong) > 8 else "")
    count = f"Wrong in {len(wrong)} of {problem.layout.count} rows: {where}."
    verdict = found.verdict if found.verdict in ("wrong", "undecided") else "wrong"
    return replace(found, verdict=verdict, evidence=(count, *found.evidence), tolerance_of=None)


def _row_by_row(problem: Problem, wrong: Array) -> Finding | None:
    """Rows that have no explanation in common, each by itself; the first few."""
    found = [find(rows_of(problem, wrong[i : i + 1])) for i in range(min(len(wrong), ROWS_ALONE))]
    names = {finding.faults for finding in found}
    if len(names) == 1:
        return found[0] if found[0].faults else None
    words = [
        f"Row {problem.layout.index(int(row))}: {joined(finding.faults) or 'no known mistake'}."
        for row, finding in zip(wrong, found, strict=False)
    ]
    return Finding("wrong", evidence=tuple(words))


def rows_of(problem: Problem, wrong: Array) -> Problem:
    """The problem of some rows only; one row alone becomes a vector."""
    import numpy as np

    layout = problem.layout
    index: Any = int(wrong[0]) if len(wrong) == 1 else wrong
    x, gamma, beta = (layout.rows(np.asarray(a))[index] for a in (problem.x, problem.gamma, problem.beta))
    answer = problem.answer
    shaped = replace(
        answer,
        values=layout.rows(answer.values),
        exact=None if answer.exact is None else layout.rows(answer.exact),
        half=None if answer.half is None else layout.rows(answer.half),
    )
    return replace(problem, x=x, gamma=gamma, beta=beta, answer=shaped.rows(index), spec=row_spec(problem.spec))


def _step(problem: Problem) -> Finding:
    """A wrong answer to a single step of the calculation."""
    singles = next(levels(problem, 1))
    slip = slips.other_step(problem)
    if slip is not None:
        return replace(_of_slip(slip), alternatives=_names(singles))
    return explained(singles) if singles else Finding("wrong")
