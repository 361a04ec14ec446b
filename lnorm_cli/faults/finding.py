"""What was found out about an answer, before it is put into words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lnorm_cli.faults.candidates import Candidate
from lnorm_cli.faults.problem import Problem
from lnorm_cli.faults.slips import Slip
from lnorm_cli.faults.words import joined
from lnorm_cli.norm import Trace


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


def explained(found: Sequence[Candidate], verdict: str = "wrong") -> Finding:
    """The first of equally good explanations as the faults, the others as alternatives."""
    best = found[0]
    epsilons = [c.pieces[0].detail for c in found[1:] if c.ids == ("epsilon-value",) != best.ids]
    fitting = (f"Fitting as well: {'; '.join(epsilons)}.",) if epsilons else ()
    return Finding(
        verdict,
        best.ids,
        names(found[1:], best),
        (*(f"{d[0].upper()}{d[1:]}." for d in best.details), *fitting),
        (),
        tuple(found),
    )


def names(found: Sequence[Candidate], best: Candidate | None = None) -> tuple[str, ...]:
    """The candidates' ids, each once, without those of the best one."""
    skip = {best.ids} if best else set()
    return tuple(dict.fromkeys(joined(c.ids) for c in found if c.ids not in skip))


def of_slip(slip: Slip) -> Finding:
    """A slip as a finding."""
    return Finding("wrong", slip.ids, evidence=slip.evidence, first_step=slip.first_step)
