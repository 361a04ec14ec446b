"""Arrays that pass as right although another epsilon gives them far more closely.

On a long row rounding may move the scale by more than epsilon does, so `condition` lets either pass. But it hardly ever
does: programs stay within some ten roundings, and where all numbers are further off, the same way, than that, and one
of the known ways to take epsilon gives them several times more closely, it is no rounding.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from lnorm_cli.faults.candidates import Candidate, combine, pieces
from lnorm_cli.faults.finding import Finding, explained
from lnorm_cli.faults.problem import Problem

CLOSER = 4.0
"""How many times closer than the right result another has to be."""

_ROUNDINGS = 8.0
"""With sqrt(n)/4 more: so many roundings off, as a root mean square, a program is not."""


EPSILONS = ("epsilon-omitted", "epsilon-outside-root", "epsilon-value")


def nearest(problem: Problem, found: list[Candidate]) -> list[Candidate]:
    """Of explanations that are all ways to take epsilon, those to which an array is nearest."""
    if len(found) < 2 or problem.answer.typed or any(c.ids[0] not in EPSILONS or len(c.ids) > 1 for c in found):
        return found
    return _near([(_distance(problem, c.spec, c.eps), c) for c in found])


def _near(found: list[tuple[float, Candidate]]) -> list[Candidate]:
    """The nearest and those that are hardly further, the named ways before mere values."""
    least = min(distance for distance, _ in found)
    near = [(distance, candidate) for distance, candidate in found if distance <= 0.2 + 1.5 * least]
    near.sort(key=lambda pair: (pair[1].ids == ("epsilon-value",), pair[0]))
    return [candidate for _, candidate in near]


def closer_epsilon(problem: Problem) -> Finding | None:
    """Another way to take epsilon, where it gives the numbers at least `CLOSER` times more closely."""
    if problem.answer.dtype not in ("float32", "float64") or problem.step != "output":
        return None
    own = _distance(problem, problem.spec, problem.eps)
    if not math.isfinite(own) or own < _ROUNDINGS + math.sqrt(problem.layout.n) / 4:
        return None
    statistics, _ = pieces(problem.spec, problem.x.shape, problem.eps)
    found = []
    for piece in statistics:
        candidate = combine([piece], problem.spec, problem.eps)
        if piece.id in EPSILONS and candidate is not None:
            found.append((_distance(problem, candidate.spec, candidate.eps), candidate))
    least = min((distance for distance, _ in found), default=math.inf)
    if not least * CLOSER < own:
        return None
    best = explained(_near(found))
    closeness = (
        "Rounding at its worst might do as much, but hardly to all numbers alike: they are"
        f" {own / max(least, 1.0):.0f} times nearer to that than to the right ones."
    )
    return replace(best, evidence=(*best.evidence, closeness))


def _distance(problem: Problem, spec: Any, eps: Any) -> float:
    """The root mean square of the differences from what a Spec gives, in roundings of the scaled values."""
    import numpy as np

    t = problem.run(spec, None, eps)
    with np.errstate(all="ignore"):
        size = np.mean((t.parameters["gamma"] * t["normalized"].value) ** 2)
        off = np.mean((problem.given(t.layout) - t.steps[-1].value) ** 2)
        return float(np.sqrt(off / size)) / (problem.answer.unit or 1.0)
