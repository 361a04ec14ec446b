"""What no known mistake explains as a whole: single rows, inference from the answer, single steps."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.faults import slips
from lnorm_cli.faults.carried import carried_forward
from lnorm_cli.faults.finding import Finding, explained, names, of_slip
from lnorm_cli.faults.problem import Problem
from lnorm_cli.faults.search import levels
from lnorm_cli.faults.words import joined
from lnorm_cli.norm import row_spec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

Find: TypeAlias = Callable[[Problem], Finding]

ROWS_ALONE = 4
"""Rows without a common explanation that are looked at one by one."""


def inferred(problem: Problem, rows: Array, find: Find) -> Finding | None:
    """Another epsilon, some rows only, or one early number wrong; single rows are judged by `find`."""
    import numpy as np

    wrong = np.flatnonzero(~rows)
    if len(rows) != problem.layout.count:
        return None
    slip = slips.another_epsilon(problem, int(wrong[0]))
    if slip is not None:
        early = one_early_number(problem)  # where so large an epsilon fits, a wrong variance does as well
        return replace(of_slip(slip), alternatives=early.faults[:1] if early is not None else ())
    if len(rows) > 1 and len(wrong) < len(rows) and problem.layout.reduced == (problem.x.ndim - 1,):
        return _of_rows(problem, wrong, find)
    if len(rows) > 1 and problem.layout.reduced == (problem.x.ndim - 1,):
        return _row_by_row(problem, wrong, find)
    return one_early_number(problem)


def one_early_number(problem: Problem) -> Finding | None:
    """One early number wrong and the rest right from there, where x is one row."""
    import numpy as np

    if problem.layout.count > 1:
        return None
    found = list(carried_forward(rows_of(problem, np.array([0]))))
    if not found:
        return None
    best = min(found, key=lambda slip: len(slip.ids))
    others = [joined(s.ids) for s in found if len(s.ids) == len(best.ids) and s.ids != best.ids]
    more = [line for s in found if s.ids == best.ids and s is not best for line in s.evidence]
    return replace(of_slip(best), alternatives=tuple(dict.fromkeys(others)), evidence=(*best.evidence, *more))


def _of_rows(problem: Problem, wrong: Array, find: Find) -> Finding | None:
    """The diagnosis of the wrong rows alone, where other rows are right."""
    found = find(rows_of(problem, wrong))
    if len(wrong) == 1:
        found = _placed(found, problem, int(wrong[0]))
    where = ", ".join(str(problem.layout.index(int(row))) for row in wrong[:8]) + (", ..." if len(wrong) > 8 else "")
    count = f"Wrong in {len(wrong)} of {problem.layout.count} rows: {where}."
    verdict = found.verdict if found.verdict in ("wrong", "undecided") else "wrong"
    return replace(found, verdict=verdict, evidence=(count, *found.evidence), tolerance_of=None)


def _placed(found: Finding, problem: Problem, row: int) -> Finding:
    """The finding on a row judged as a vector, its places told as those of the whole: x[2] of row 1 is x[1, 2]."""
    index = ", ".join(map(str, problem.layout.index(row)))
    evidence = tuple(re.sub(r"\b([xy])\[(\d+)\]", rf"\1[{index}, \2]", line) for line in found.evidence)
    return replace(found, evidence=evidence)


def _row_by_row(problem: Problem, wrong: Array, find: Find) -> Finding | None:
    """Rows that have no explanation in common, each by itself; the first few."""
    found = [
        _placed(find(rows_of(problem, wrong[i : i + 1])), problem, int(wrong[i]))
        for i in range(min(len(wrong), ROWS_ALONE))
    ]
    names = {finding.faults for finding in found}
    if names == {()}:
        return None
    places = [f"Row {problem.layout.index(int(row))}: " for row in wrong[:ROWS_ALONE]]
    left = len(wrong) - len(found)
    more = (f"The {left} other wrong rows were not looked at one by one.",) if left else ()
    if len(names) == 1:
        same = len({finding.evidence for finding in found}) == 1
        each = [place + line for place, finding in zip(places, found, strict=True) for line in finding.evidence]
        return found[0] if same else replace(found[0], evidence=(*each, *more))
    words = [
        f"{place}{joined(finding.faults) or 'no known mistake'}." for place, finding in zip(places, found, strict=True)
    ]
    return Finding("wrong", evidence=(*words, *more))


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


def judge_step(problem: Problem) -> Finding:
    """A wrong answer to a single step of the calculation."""
    singles = next(levels(problem, 1))
    slip = slips.other_step(problem)
    if slip is not None:
        return replace(of_slip(slip), alternatives=names(singles))
    return explained(singles) if singles else Finding("wrong")
