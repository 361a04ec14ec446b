"""How many parameters the norms of a transformer have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lnorm_cli.errors import InputError

STACKS: Mapping[str, tuple[int, ...]] = {
    "encoder-decoder": (2, 3),
    "encoder": (2,),
    "decoder": (3,),
    "decoder-only": (2,),
}
"""Norms a layer, one after each sublayer, for each part of the model; "decoder" attends to an encoder too."""


@dataclass(frozen=True)
class Counts:
    """Norms and their parameters; `final` of the norms stand behind the last layers."""

    per_norm: int
    norms: int
    final: int

    @property
    def total(self) -> int:
        return self.per_norm * self.norms


def parameter_counts(
    width: int,
    depth: int | None = None,
    *,
    stack: str = "encoder-decoder",
    norm: str = "layer",
    final: bool = False,
) -> Counts:
    """Count gamma and beta (RMSNorm: gamma) of one norm, or of all norms with `depth` layers in each part."""
    if stack not in STACKS:
        raise InputError(f"there is no stack {stack!r}", hint="one of " + ", ".join(STACKS))
    if norm not in ("layer", "rms"):
        raise InputError(f"there is no norm {norm!r} to count", hint="layer or rms")
    for name, value in (("width", width), ("depth", 1 if depth is None else depth)):
        if value < 1:
            raise InputError(f"{name} is {value}", hint="give a whole number from 1 on")
    per_norm = width if norm == "rms" else 2 * width
    if depth is None:
        return Counts(per_norm, 1, 0)
    finals = len(STACKS[stack]) if final else 0
    return Counts(per_norm, depth * sum(STACKS[stack]) + finals, finals)
