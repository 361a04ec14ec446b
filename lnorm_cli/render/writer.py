"""What a format must be able to write, so that one walk serves them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from lnorm_cli.render.notation import Notation


@dataclass(frozen=True)
class Column:
    """One quantity, an entry a feature; `kind` says which side it shows, or that both write the same."""

    header: str
    cells: tuple[str, ...]
    kind: Literal["exact", "float", "both"]


class Writer(Protocol):
    """What a format must be able to write."""

    notation: Notation

    def title(self, text: str) -> None: ...
    def section(self, text: str) -> None: ...
    def given(self, name: str, value: str) -> None: ...
    def step(self, number: int, name: str, formula: str, lines: Sequence[tuple[str, str]]) -> None:
        """One step: its formula, then (relation, value) lines, relation one of "=" and the about sign."""

    def table(self, columns: Sequence[Column]) -> None: ...
    def notices(self, texts: Sequence[str]) -> None: ...
    def other_row(self, name: str, value: str) -> None: ...


def sides(columns: Sequence[Column]) -> list[list[Column]]:
    """The exact side and the float side of a table, as far as each has a column of its own."""
    kinds = [kind for kind in ("exact", "float") if any(column.kind == kind for column in columns)]
    return [[column for column in columns if column.kind in (kind, "both")] for kind in kinds] or [list(columns)]
