"""Which known mistake explains all the failures at once, and none of the passes contradicts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.arithmetic import Float
from lnorm_cli.check import judge
from lnorm_cli.check.report import CaseResult, Report
from lnorm_cli.norm import NORMS, trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

Explanation: TypeAlias = "frozenset[str]"

OF_HANDS = ("arithmetic-slip", "carried-forward", "rounded-intermediate")
"""Faults of work by hand, which code does not make."""


@dataclass(frozen=True)
class Reading:
    """What one failing case says by itself: explanations, the best one first, and what speaks for that one."""

    explanations: tuple[Explanation, ...] = ()
    evidence: tuple[str, ...] = ()

    def only(self, allowed: Collection[Explanation]) -> Reading:
        """The same without the explanations that are not allowed."""
        kept = tuple(explanation for explanation in self.explanations if explanation in allowed)
        return Reading(kept, self.evidence if kept[:1] == self.explanations[:1] else ())


def name_faults(report: Report) -> Report:
    """The report with faults on each failing case and, where one explanation covers them, on the whole."""
    notes = [result for result in report.results if result.case.note and result.outcome != judge.PASS]
    readings = _read_all(report.failures or notes)
    support = _support(report, readings)
    common = _common(report, readings, support)
    best = common[0] if common else frozenset()
    needed = min(2, len(report.failures))
    results = []
    for result in report.results:
        if id(result) in readings:
            reading = readings[id(result)]
            if not result.case.note:  # one case among many failures proves little
                reading = reading.only({e for e, count in support.items() if count >= needed})
            result = _named(result, reading, best)
        results.append(result)
    others = tuple("+".join(_ordered(explanation)) for explanation in common[1:])
    return replace(report, results=tuple(results), faults=_ordered(best), alternatives=others)


def _read_all(failures: Sequence[CaseResult]) -> dict[int, Reading]:
    """A reading of each failure by its id.

    The only explanation of an earlier failure that gives the numbers of this one too is taken over unsearched;
    and the search ends when more than half of the failures have turned out to mean nothing known.
    """
    readings: dict[int, Reading] = {}
    known: dict[Explanation, None] = {}
    for result in failures:
        again = tuple(explanation for explanation in known if _reproduces(explanation, result))
        hopeless = 2 * sum(not reading.explanations for reading in readings.values()) > len(failures)
        reading = Reading(again) if again or hopeless else _read(result)
        if len(reading.explanations) == 1:
            known |= dict.fromkeys(reading.explanations)
        readings[id(result)] = reading
    return readings


def _read(result: CaseResult) -> Reading:
    """What the numbers of one case could mean."""
    from lnorm_cli import faults

    case, output = result.case, result.judgement.output
    if output is None:
        return Reading(_from_message(result))
    diagnosis = faults.diagnose_arrays(
        case.x,
        output,
        gamma=case.gamma,
        beta=case.beta,
        eps=case.eps,
        spec=NORMS[case.norm],
        dtype=result.judgement.dtype,
    )
    found = [frozenset(diagnosis.faults), *(frozenset(text.split("+")) for text in diagnosis.alternatives)]
    possible = tuple(e for e in found if e and not e & set(OF_HANDS))
    return Reading(possible, tuple(diagnosis.evidence) if possible[:1] == tuple(found[:1]) else ())


def _from_message(result: CaseResult) -> tuple[Explanation, ...]:
    """Arrays that do not broadcast: a statistic with one number a row has met the features."""
    if result.judgement.reason != judge.RAISED or result.case.x.ndim < 2:
        return ()
    message, shape = result.judgement.message, result.case.x.shape
    numpy_says = re.search(r"broadcast together with shapes \(([\d,]*)\) \(([\d,]*)\)", message)
    if numpy_says:
        shapes = {tuple(int(n) for n in group.split(",") if n) for group in numpy_says.groups()}
        return (frozenset({"missing-keepdims"}),) if shapes == {shape, shape[:-1]} else ()
    torch_says = re.search(r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)", message)
    if torch_says and {int(n) for n in torch_says.groups()} == {shape[-1], shape[-2]}:
        return (frozenset({"missing-keepdims"}),)
    return ()


def _support(report: Report, readings: Mapping[int, Reading]) -> dict[Explanation, int]:
    """How many failures each explanation accounts for; those that a pass contradicts are left out."""
    passes = [result for result in report.results if result.outcome == judge.PASS and not result.case.note]
    offered = {name: reading.explanations for name, reading in readings.items()}
    candidates = dict.fromkeys(e for result in report.failures for e in offered[id(result)])
    return {
        candidate: sum(candidate in offered[id(r)] or _reproduces(candidate, r) for r in report.failures)
        for candidate in candidates
        if not any(_shows(candidate, result) for result in passes)
    }


def _common(report: Report, readings: Mapping[int, Reading], support: Mapping[Explanation, int]) -> list[Explanation]:
    """Explanations of the whole: those with most support, and of these the ones with the fewest faults.

    One that leaves more than half of the failures with numbers unexplained is none.
    """
    speaking = [r for r in report.failures if readings[id(r)].explanations or r.judgement.output is not None]
    most = max(support.values(), default=0)
    if 2 * most < len(speaking) or not most:
        return []
    best = [candidate for candidate, count in support.items() if count == most]
    fewest = min(map(len, best))
    return [candidate for candidate in best if len(candidate) == fewest]


def _wrong_output(explanation: Explanation, result: CaseResult) -> Array | None:
    """What the explanation would give for a case; None when it is not a wrong Spec."""
    from lnorm_cli import faults

    case = result.case
    if any(faults.fault(name).group == "precision" for name in explanation):
        return None
    try:
        spec = faults.wrong_spec(_ordered(explanation), spec=NORMS[case.norm])
        wrong = trace(case.x, spec, Float(), gamma=case.gamma, beta=case.beta, eps=float(case.eps))
    except ValueError:
        return None
    return wrong.output


def _shows(explanation: Explanation, result: CaseResult) -> bool:
    """Whether a passing case would have failed, had the explanation been true.

    Where the explanation divides by 0 it says nothing: code often guards that by hand.
    """
    import numpy as np

    got, wrong = result.judgement.got, None
    if got is not None and result.judgement.tolerance is not None:
        wrong = _wrong_output(explanation, result)
    if got is None or wrong is None:
        return False
    finite = np.isfinite(wrong)
    return bool(np.any(np.abs(wrong[finite] - got[finite]) > 2 * (result.judgement.tolerance or 0.0)))


def _reproduces(explanation: Explanation, result: CaseResult) -> bool:
    """Whether the explanation gives the numbers of a failing case, nan for nan."""
    import numpy as np

    output = result.judgement.output
    wrong = None if output is None else _wrong_output(explanation, result)
    if output is None or wrong is None:
        return False
    slack = 4 * (result.judgement.tolerance or 0.0)
    relative = 64 * Float(result.case.dtype).unit
    with np.errstate(all="ignore"):
        near = np.abs(wrong - output) <= slack + relative * np.abs(wrong)
    return bool(np.all(near | (np.isnan(wrong) & np.isnan(output)) | (wrong == output)))


def _named(result: CaseResult, reading: Reading, best: Explanation) -> CaseResult:
    """A failing case with its names: the explanation of the whole where it fits, else its own."""
    if best and (best in reading.explanations or _reproduces(best, result)):
        reading = Reading((best,), reading.evidence if reading.explanations[:1] == (best,) else ())
    names = [_ordered(explanation) for explanation in reading.explanations] or [()]
    others = tuple("+".join(other) for other in names[1:])
    return replace(result, faults=names[0], alternatives=others, evidence=reading.evidence)


def _ordered(explanation: Iterable[str]) -> tuple[str, ...]:
    from lnorm_cli import faults

    order = list(faults.catalogue())
    return tuple(sorted(explanation, key=order.index))
