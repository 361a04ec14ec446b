"""A diagnosis as a value, and its JSON form."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lnorm_cli.faults.catalogue import fault

Verdict = Literal["correct", "rounded", "wrong", "malformed", "undecided"]


@dataclass(frozen=True)
class Worst:
    """The element that is furthest off."""

    index: tuple[int, ...]
    given: float
    right: float


@dataclass(frozen=True)
class Diagnosis:
    """What an answer says about the way it was found.

    verdict       correct; rounded (right but for rounding on the way); wrong; malformed (no answer: wrong length,
                  no number); undecided (the data cannot tell)
    faults        the best explanation: several ids act together; empty when none is known
    alternatives  ids that explain the same numbers equally well (ids joined by + act together)
    message       the verdict and what happened, in a sentence or two
    implied       mean and standard deviation that the answer fixes; `right` the right ones; None where nothing does
    first_step    the first step of the calculation that differs, "" where none is known
    tell_apart    an input on which the explanations would differ, "" where none is needed
    """

    verdict: Verdict
    message: str
    faults: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    implied: Mapping[str, float] | None = None
    right: Mapping[str, float] | None = None
    row: tuple[int, ...] = ()
    first_step: str = ""
    mend: str = ""
    tell_apart: str = ""
    evidence: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    tolerance: str = ""
    worst: Worst | None = None

    @property
    def accepted(self) -> bool:
        """Whether the answer is not called wrong."""
        return self.verdict in ("correct", "rounded", "undecided")

    def json(self) -> dict[str, Any]:
        """The document `lnorm/diagnose/1`; every float in it finite or a string."""
        return {
            "schema": "lnorm/diagnose/1",
            "verdict": self.verdict,
            "faults": list(self.faults),
            "alternatives": list(self.alternatives),
            "implied": _numbers(self.implied),
            "right": _numbers(self.right),
            "row": list(self.row),
            "first_step": self.first_step or None,
            "message": self.message,
            "mend": self.mend or None,
            "tell_apart": self.tell_apart or None,
            "evidence": list(self.evidence),
            "notes": list(self.notes),
            "tolerance": self.tolerance or None,
            "worst": None
            if self.worst is None
            else {
                "index": list(self.worst.index),
                "given": _number(self.worst.given),
                "right": _number(self.worst.right),
            },
            "reports": sorted({report for name in self.faults for report in fault(name).reports}),
        }


def _numbers(values: Mapping[str, float] | None) -> dict[str, float | str] | None:
    return None if values is None else {name: _number(value) for name, value in values.items()}


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)
