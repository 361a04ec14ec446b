"""The result of a check as a value, and its JSON form."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lnorm_cli.check.cases import Case, nested
from lnorm_cli.check.judge import GRADIENT, PASS, Judgement

if TYPE_CHECKING:
    from numpy.typing import NDArray

CONFORMS, FAILS = "conforms", "fails"


@dataclass(frozen=True)
class CaseResult:
    """One case, judged; `case` holds the smallest input that shows the failure."""

    case: Case
    judgement: Judgement
    faults: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    """What speaks for the faults: the recovered epsilon, the axis."""

    @property
    def outcome(self) -> str:
        """pass, fail, error or timeout."""
        return self.judgement.outcome

    @property
    def failed(self) -> bool:
        """Whether it speaks against the code."""
        return self.outcome != PASS and not self.case.note


@dataclass(frozen=True)
class Report:
    """Everything `lnorm check` found out about one function or class."""

    target: str
    norm: str
    framework: str
    results: tuple[CaseResult, ...] = ()
    faults: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    """Ids of cases not run because the code had stopped answering."""
    seconds: float = field(default=0.0, compare=False)

    @property
    def failures(self) -> tuple[CaseResult, ...]:
        """The cases that speak against the code."""
        return tuple(result for result in self.results if result.failed)

    @property
    def verdict(self) -> str:
        """conforms, or fails."""
        return FAILS if self.failures or self.skipped else CONFORMS

    def json(self) -> dict[str, Any]:
        """The document `lnorm/check/1`."""
        return {
            "schema": "lnorm/check/1",
            "target": self.target,
            "verdict": self.verdict,
            "faults": list(self.faults),
            "alternatives": list(self.alternatives),
            "norm": self.norm,
            "framework": self.framework,
            "notes": list(self.notes),
            "not_run": list(self.skipped),
            "cases": [_case_json(result) for result in self.results],
        }


def _case_json(result: CaseResult) -> dict[str, Any]:
    case, judgement = result.case, result.judgement
    return {
        "id": case.id,
        "outcome": judgement.outcome,
        "reason": judgement.reason or None,
        "message": judgement.message,
        "decides": not case.note,
        "faults": list(result.faults),
        "alternatives": list(result.alternatives),
        "evidence": list(result.evidence),
        "dtype": case.dtype,
        "input": {
            "x": nested(case.x),
            "gamma": nested(case.gamma),
            "beta": nested(case.beta),
            "eps": float(case.eps),
        },
        "expected": _numbers(case.expected if _wants_values(result) else judgement.expected),
        "got": _numbers(judgement.got),
        "tolerance": _finite(judgement.tolerance),
    }


def _wants_values(result: CaseResult) -> bool:
    """Whether to show the right numbers though the judgement, which looked at something else, has none."""
    return result.judgement.expected is None and result.judgement.reason != GRADIENT


def _numbers(array: NDArray[Any] | None) -> Any:
    return None if array is None else nested(array)


def _finite(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else str(value)
