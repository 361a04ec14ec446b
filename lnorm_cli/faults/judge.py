"""From an answer to a diagnosis: is it right, right but for rounding, or which mistake explains it.

Order of explanations: right as typed; right at the precision of the floating-point type it shows; right with digits cut
off or rounded on the way; one fault; one fault and rounding on the way; bits of a precision fault; two faults; three;
single rows; another epsilon; elements out of order, off, of another step; one early number wrong. What fits first
with the fewest faults is the explanation, all that fit equally well are named, and when a harmless and a harmful
explanation fit alike the verdict is `undecided`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.faults import slips
from lnorm_cli.faults.candidates import Candidate
from lnorm_cli.faults.catalogue import fault
from lnorm_cli.faults.closer import closer_epsilon, nearest
from lnorm_cli.faults.finding import Finding, explained, names, of_slip
from lnorm_cli.faults.harmless import harmless, large_offset, shown_precision
from lnorm_cli.faults.precision import by_size, reproduced
from lnorm_cli.faults.problem import Problem
from lnorm_cli.faults.rounding import Habit
from lnorm_cli.faults.roundings import coarse, rounded_fault, rounded_right
from lnorm_cli.faults.rows import inferred, judge_step, one_early_number
from lnorm_cli.faults.search import levels
from lnorm_cli.faults.slips import Slip
from lnorm_cli.faults.words import MOST_PLACES, joined, outputs, some

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

PAIR_DIGITS, TRIPLE_DIGITS, SURE_DIGITS = 8, 16, 6
"""Digits typed in all that two, and three, faults together need for evidence, and digits in one number below which two
may fit by chance: there one early number wrong is named beside them, and three are not tried."""

SHARE = 0.5
"""Of the room of a program's numbers: beyond it a mistake that gives the very digits is the better explanation."""

BITS_DIGITS = 12
"""Digits typed in all from which on numbers may be known for those of a short floating-point type."""

COMMON_STEPS = ("deviation", "squared_deviation")
"""Stopping at these is likelier than any of the rarer mistakes that happen to give the same numbers."""

SLIPS = {"arithmetic-slip", "carried-forward", "wrong-order", "sign-flipped"}
"""Mistakes of a person, who writes numbers."""

MOST_REPRODUCED = 4096
"""Up to this many elements the bits of a wrong arithmetic are looked for even where a wrong Spec fits."""

MOST_NAMED = 5
"""Mistakes named where few digits leave many of them open."""

MOST_HIDDEN = 64
"""Up to this many elements a right answer is tried against single faults, to say what x hides."""


def find(problem: Problem) -> Finding:
    """The verdict on an answer, with its explanation."""
    rows = problem.fitting_rows(problem.spec)
    if rows.all():
        return _right(problem)
    if problem.step != "output":
        return judge_step(problem)
    right = harmless(problem) if problem.answer.typed else None
    if right is None and not (problem.answer.typed and _explained_at_its_digits(problem)):
        right = large_offset(problem)
    if right is not None:
        singles = next(levels(problem, 1))
        program = right.tolerance_of
        if (
            singles
            and program is not None
            and not replace(program, measured=SHARE * program.measured).fits(program.spec)
        ):
            return _typed(problem) or explained(singles)  # these give the very digits, the right result hardly does
        if singles:
            return _undecided(right, singles)
        return replace(right, alternatives=names(_pairs(problem))) if problem.answer.typed else right
    found = (_typed(problem) or _of_program(problem)) if problem.answer.typed else _array(problem, rows)
    found = found or inferred(problem, rows, find) or Finding("wrong")
    if len(found.faults) > 1 and "carried-forward" in found.faults and problem.answer.typed:
        pairs = names(list(levels(problem, 2))[1])[:MOST_NAMED]  # they need no number of their own
        found = replace(found, alternatives=tuple(dict.fromkeys((*found.alternatives, *pairs))))
    return _not_numbers(problem) if set(found.faults) & SLIPS and not _is_finite(problem) else found


def _explained_at_its_digits(problem: Problem) -> bool:
    """Whether one or two mistakes, one wrong number, or too few digits on the way give the very digits typed."""
    found = next(levels(problem, 1)) or slips.arithmetic_slip(problem) or rounded_right(problem, harmful=True)
    return bool(found or _pairs(problem))


def _is_finite(problem: Problem) -> bool:
    import numpy as np

    return bool(np.isfinite(problem.answer.values).all())


def _not_numbers(problem: Problem) -> Finding:
    """An entry that is no number is no slip of the pen: it is said, and nothing is read into the others."""
    import numpy as np

    places = np.argwhere(~np.isfinite(problem.answer.values))[:MOST_PLACES]
    named = some(outputs(places.tolist()))
    return Finding("wrong", evidence=(f"{named} is no finite number, and no known mistake makes it so.",))


def _of_program(problem: Problem) -> Finding | None:
    """Typed numbers that no rule for typed numbers explains, as the output of a program in floating point."""
    shorter = shown_precision(problem)
    if shorter is None:
        return None
    rows = shorter.fitting_rows(shorter.spec)
    return None if rows.all() else _array(shorter, rows)


def _right(problem: Problem) -> Finding:
    small = problem.x.size <= MOST_HIDDEN
    fitting = next(levels(problem, 1)) if small else []
    if problem.answer.typed and coarse(problem):
        others = [c for c in fitting if fault(c.ids[0]).group != "affine"]
        others = [c for c in others if _exactly(problem, c)] or others[:MOST_NAMED]
        note = "One digit is too little to judge by: type two or more."
        return Finding("undecided", (), names(others), (), (note,), tuple(others))
    closer = None if problem.answer.typed else closer_epsilon(problem)
    return closer or Finding("correct", candidates=tuple(fitting))


def _exactly(problem: Problem, candidate: Candidate) -> bool:
    """Whether a candidate gives exactly the typed numbers, if need be with epsilon left out as well."""
    answer = problem.answer
    assert answer.half is not None
    strict = replace(problem, answer=replace(answer, half=answer.half * 0))
    return any(
        strict.fits(spec, candidate.eps) for spec in (candidate.spec, replace(candidate.spec, epsilon="omitted"))
    )


def _undecided(harmless: Finding, singles: Sequence[Candidate]) -> Finding:
    """A right answer with some rounding, and a mistake, give the same digits."""
    return replace(harmless, verdict="undecided", faults=(), alternatives=names(singles), candidates=tuple(singles))


def _typed(problem: Problem) -> Finding | None:
    singles = next(levels(problem, 1))
    shorter = shown_precision(problem)
    also: list[Candidate] = []
    if not singles and shorter is not None:
        singles = next(levels(shorter, 1))
        also = _pairs(problem) if singles else []  # two mistakes that give the very digits, without float32's noise
    step = slips.other_step(problem)
    common = _common_step(problem, step, singles)
    if common is not None:
        return common
    if singles:
        found = explained(_sharpest(problem, singles))
        more = step.ids if step is not None and "division-omitted" not in found.alternatives else ()
        more = (*more, "arithmetic-slip") if _near_miss(problem) else more
        return replace(found, alternatives=(*found.alternatives, *more, *names(also)))
    slip = slips.sign_of_all(problem)
    if slip is not None:
        return of_slip(slip)
    habit = rounded_right(problem, harmful=True)
    if habit is not None:
        early = one_early_number(problem) if habit.digits == 0 else None
        if early is not None:  # to round to whole numbers explains much, and is done by few
            return replace(early, alternatives=(*early.alternatives, "rounded-intermediate"))
        evidence = f"With {habit.words} it comes out so, too few for the digits of the answer."
        return Finding("wrong", ("rounded-intermediate",), names(_pairs(problem)), (evidence,))
    slip = slips.wrong_order(problem) or slips.arithmetic_slip(problem) or step
    if slip is not None:
        return replace(of_slip(slip), alternatives=names(_pairs(problem)))
    rounded = rounded_fault(problem)
    if rounded is not None:
        return _with_rounding(*rounded, _pairs(problem))
    several = _several(problem)
    if several is not None:
        return several
    precision = reproduced(problem) if _odd(problem) or _borne(problem) >= BITS_DIGITS else None
    if precision is not None:
        return Finding("wrong", (precision.id,), evidence=(precision.evidence,), wrong=precision.trace)
    return None


def _near_miss(problem: Problem) -> bool:
    """Whether few numbers are wrong, and those by a unit or two of their last digit: what a slip does as well."""
    import numpy as np

    off = np.abs(problem.answer.values - problem.run(problem.spec).output)
    return bool(np.all(off <= 5 * problem.answer.slack)) and slips.arithmetic_slip(problem) is not None


def _common_step(problem: Problem, step: Slip | None, singles: list[Candidate]) -> Finding | None:
    """An early step given as the answer, unless a common mistake (other than not to divide) gives the same."""
    others = [c for c in singles if c.ids != ("division-omitted",)]
    if step is None or step.first_step not in COMMON_STEPS or any(c.rarity < 2 for c in others):
        return None
    return replace(of_slip(step), alternatives=names(_sharpest(problem, others)))


def _odd(problem: Problem) -> bool:
    """Whether the answer is nothing but zeros, or holds nan or infinity: no work by hand."""
    import numpy as np

    return not np.isfinite(problem.answer.values).all() or not problem.answer.values.any()


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
    """Digits typed in different numbers, which bound how many faults an explanation may use."""
    import numpy as np

    if not problem.answer.typed or problem.answer.symbolic:
        return 1000
    return problem.answer.digits * len(np.unique(np.abs(problem.answer.values[problem.answer.values != 0])))


def _array(problem: Problem, rows: Array) -> Finding | None:
    singles = nearest(problem, next(levels(problem, 1)))
    precision = None if singles and problem.x.size > MOST_REPRODUCED else reproduced(problem)
    if precision is not None:
        return Finding(
            "wrong",
            (precision.id,),
            names(singles),
            (precision.evidence,),
            candidates=tuple(singles),
            wrong=precision.trace,
        )
    step = slips.other_step(problem)
    if singles:
        return _common_step(problem, step, singles) or explained(singles)
    slip = slips.sign_of_all(problem) or slips.wrong_order(problem) or slips.arithmetic_slip(problem)
    slip = slip or step
    if slip is not None:
        return of_slip(slip)
    found = _several(problem)
    if found is not None:
        return found
    precision = by_size(problem, rows)
    return Finding("wrong", (precision.id,), evidence=(precision.evidence,)) if precision else None


def _several(problem: Problem) -> Finding | None:
    """Two or three faults together, as many as the digits given can bear."""
    few = problem.answer.typed and not problem.answer.symbolic and problem.answer.digits < SURE_DIGITS
    most = 3 if _borne(problem) >= TRIPLE_DIGITS and not few else 2 if _borne(problem) >= PAIR_DIGITS else 1
    for count, candidates in enumerate(levels(problem, most), start=1):
        if count > 1 and candidates:
            found = explained(_sharpest(problem, candidates))
            slip = one_early_number(problem) if few else None
            return replace(found, alternatives=(*found.alternatives, joined(slip.faults))) if slip else found
    return None


def _sharpest(problem: Problem, found: list[Candidate]) -> list[Candidate]:
    """Where few digits were typed, the candidates that give exactly the typed numbers, if any do."""
    if not problem.answer.typed or problem.answer.digits > 2 or len(found) < 2:
        return found
    return [c for c in found if _exactly(problem, c)] or found
