"""Diagnosis of a residual block's output: where the norm stands, then what is wrong inside it."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.arithmetic import Float, to_exact
from lnorm_cli.exact import approximate
from lnorm_cli.faults.answer import Answer
from lnorm_cli.faults.catalogue import fault
from lnorm_cli.faults.conclude import check_shape, conclude, in_words
from lnorm_cli.faults.diagnosis import Diagnosis
from lnorm_cli.faults.finding import Finding
from lnorm_cli.faults.harmless import accepted, at_dtype
from lnorm_cli.faults.placement import Placement, placements
from lnorm_cli.faults.problem import Problem, make_problem
from lnorm_cli.faults.search import levels
from lnorm_cli.faults.words import how_compared, joined, right_ones
from lnorm_cli.norm import Spec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]


def diagnose_block(
    x: Array,
    answer: Answer,
    residual: Array,
    order: str,
    gamma: Any,
    beta: Any,
    eps: Any,
    spec: Spec,
    dtype: str | None,
) -> Diagnosis:
    """The diagnosis of `answer` for a block with input x and sublayer output `residual` (see `placement`)."""
    import numpy as np

    wrong_shape = check_shape(answer, x.shape)
    if wrong_shape is not None:
        return wrong_shape
    if (x.dtype == object and residual.dtype != object) or (residual.dtype == object and x.dtype != object):
        x, residual = to_exact(x), to_exact(residual)

    def problem_of(place: Placement) -> Problem:
        inner = place.inner if place.inner is not None else place.term
        less = answer if place.inner is None else answer.less(place.term, place.factor)
        problem = make_problem(inner, less, gamma, beta, eps, spec)
        return at_dtype(problem, dtype) if dtype else problem

    ways = list(placements(x, residual, order, spec, eps))
    problems = [problem_of(place) for place in ways]
    fitting = [_fits(place, problem) for place, problem in zip(ways, problems, strict=True)]
    chosen = next((i for i, place in enumerate(ways) if place.right and fitting[i]), None)
    if chosen is not None:
        return _right(ways[chosen], problems[chosen])
    found = [place for place, fits in zip(ways, fitting, strict=True) if fits and place.ids]
    if found:
        best = min(found, key=lambda place: len(place.ids))
        return _misplaced(best, [p for p in found if p is not best], problems[0], order)
    if ways[0].inner is not None and next(levels(problems[0], 1)):
        return _of_the_sum(conclude(problems[0]))
    for place, problem in zip(ways[1:], problems[1:], strict=True):
        singles = next(levels(problem, 1)) if place.inner is not None and (place.ids or place.right) else []
        if singles:
            inside = in_words(problem, Finding("wrong", (*place.ids, *singles[0].ids), candidates=(singles[0],)))
            return replace(inside, evidence=(f"The numbers are {place.formula}, with that norm.",))
    if ways[0].inner is not None:
        return _of_the_sum(conclude(problems[0]))
    return Diagnosis(
        "wrong",
        f"Wrong. No known mistake explains these numbers; right is {ways[0].formula}.",
        evidence=right_ones(np.argwhere(_right_sums(ways[0].term, answer)).tolist()),
        mend=f"Compute {ways[0].formula}.",
        tolerance=how_compared(problems[0]),
    )


def _fits(place: Placement, problem: Problem) -> bool:
    if place.inner is not None:
        return accepted(problem)
    return bool(_right_sums(place.term, problem.answer).all())


def _of_the_sum(diagnosis: Diagnosis) -> Diagnosis:
    """What is said of the x that was normalized, said of x + F, which it is here."""
    return replace(diagnosis, evidence=tuple(re.sub(r"\bx\[", "(x + F)[", line) for line in diagnosis.evidence))


def _right_sums(total: Array, answer: Answer) -> Array:
    """Where the answer is that sum: at the digits typed, or within four roundings of its dtype."""
    import numpy as np

    if answer.typed and total.dtype == object:
        assert answer.exact is not None
        assert answer.half is not None
        pairs = zip(answer.exact.flat, total.flat, answer.half.flat, strict=True)
        program = Fraction(1, 2**50) if answer.plausible_dtype() else Fraction(0)
        near = [abs(given - approximate(value)) <= half + program * abs(given) for given, value, half in pairs]
        return np.asarray(np.isfinite(answer.values) & np.array(near).reshape(answer.values.shape))
    sums = Float().array(total)
    room = answer.slack * (1 + 1e-9) + 4 * (answer.unit or 2.0**-53) * (np.abs(sums) + np.abs(answer.values))
    return np.asarray(np.abs(answer.values - sums) <= room)


def _right(place: Placement, problem: Problem) -> Diagnosis:
    notes = (place.note,) if place.note else ()
    if place.inner is not None:
        inside = conclude(problem)
        return replace(inside, notes=(*notes, *inside.notes))
    return Diagnosis("correct", f"Correct: {place.formula}.", notes=notes, tolerance=how_compared(problem))


def _misplaced(best: Placement, others: list[Placement], problem: Problem, order: str) -> Diagnosis:
    alternatives = (
        *best.alternatives,
        *(joined(p.ids) for p in others if p.ids != best.ids and len(p.ids) <= len(best.ids)),
    )
    asked = {"post": "norm(x + F)", "pre": "x + F(norm(x))", "final": "norm(x + F), the last norm of the stack"}[order]
    return Diagnosis(
        "wrong",
        "Wrong. " + " ".join(fault(name).happened for name in best.ids),
        best.ids,
        tuple(dict.fromkeys(alternatives)),
        evidence=(f"The numbers are {best.formula}; asked for was {asked}.", *((best.note,) if best.note else ())),
        mend=" ".join(fault(name).mend for name in best.ids),
        tolerance=how_compared(problem),
    )
