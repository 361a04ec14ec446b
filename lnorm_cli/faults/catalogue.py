"""The catalogue of mistakes, read from data/faults.toml: names, sentences, and the wrong Spec of each."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any

from lnorm_cli.norm import LAYER, Spec

Changes = Mapping[str, Any]
"""Fields of Spec with their wrong values."""

_FIELDS = {field.name for field in fields(Spec)}
_GROUPS = ("statistics", "epsilon", "affine", "axes", "precision", "placement", "slips")


@dataclass(frozen=True)
class Fault:
    """One known mistake: its stable name, one sentence of what happened, one of how to mend it, its reports.

    `changes` turns a right Spec into the wrong one; None where the mistake is no single wrong Spec (slips,
    placement, another epsilon, arithmetic). `variants` are such changes that lack the number of elements.
    """

    id: str
    group: str
    happened: str
    mend: str
    reports: tuple[str, ...] = ()
    changes: Changes | None = None
    rms_changes: Changes | None = None
    happened_rms: str = ""
    variants: tuple[Changes, ...] = ()
    paired: bool = True
    rarity: int = 2

    def changes_of(self, spec: Spec) -> Changes | None:
        """What it changes in `spec`; None where it changes nothing there."""
        changes = self.rms_changes if is_rms(spec) else self.changes
        if changes is None or all(getattr(spec, name) == value for name, value in changes.items()):
            return None
        return changes

    def spec(self, spec: Spec = LAYER) -> Spec | None:
        """The wrong Spec where `spec` was asked for, or None."""
        changes = self.changes_of(spec)
        return None if changes is None else replace(spec, **changes)

    def sentence(self, spec: Spec = LAYER) -> str:
        """What happened, worded for the norm that was asked for."""
        return self.happened_rms if self.happened_rms and is_rms(spec) else self.happened


def is_rms(spec: Spec) -> bool:
    """Whether the Spec asks for RMSNorm: x over the root of its mean square."""
    return spec.numerator == "raw" and spec.spread == "mean-square"


@cache
def catalogue() -> Mapping[str, Fault]:
    """All faults by id, in the order of the file."""
    text = files("lnorm_cli").joinpath("data/faults.toml").read_text(encoding="utf-8")
    return {name: _fault(name, entry) for name, entry in tomllib.loads(text).items()}


def _fault(name: str, entry: Mapping[str, Any]) -> Fault:
    known = {"group", "happened", "happened_rms", "mend", "reports", "spec", "rms", "variants", "pairs", "rarity"}
    if set(entry) - known or entry["group"] not in _GROUPS:
        raise ValueError(f"faults.toml: {name} has an unknown field or group")
    changes = _changes(name, entry.get("spec"))
    return Fault(
        id=name,
        group=entry["group"],
        happened=entry["happened"],
        mend=entry["mend"],
        reports=tuple(entry.get("reports", ())),
        changes=changes,
        rms_changes=_changes(name, entry["rms"]) if "rms" in entry else changes,
        happened_rms=entry.get("happened_rms", ""),
        variants=tuple(_changes(name, variant) or {} for variant in entry.get("variants", ())),
        paired=entry.get("pairs", True),
        rarity=entry.get("rarity", 2),
    )


def _changes(name: str, table: Any) -> Changes | None:
    if not table:
        return None
    if set(table) - _FIELDS:
        raise ValueError(f"faults.toml: {name} changes a field that Spec does not have")
    return {key: Fraction(value) if key == "power" else value for key, value in table.items()}


def fault(name: str) -> Fault:
    """The fault of that id; KeyError for an unknown one."""
    return catalogue()[name]


def wrong_spec(names: Iterable[str], spec: Spec = LAYER) -> Spec:
    """The Spec with several faults at once; ValueError when one is no Spec, or two change the same field."""
    merged: dict[str, Any] = {}
    for name in names:
        changes = fault(name).changes_of(spec)
        if changes is None:
            raise ValueError(f"{name} is not a wrong Spec here")
        if set(changes) & set(merged):
            raise ValueError(f"{name} changes what another of these faults changes")
        merged.update(changes)
    return replace(spec, **merged)
