"""What a topic is made of: the blocks of its prose, and the small values that its demos return.

A renderer lays these out; it never computes. Cells of tables and lengths of bars are therefore plain values:
text, whole numbers, floats, short vectors, or an exact value beside its float.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Pair:
    """An exact value (in the input grammar; None where there is none) beside its float."""

    exact: str | None
    value: float


Cell: TypeAlias = "str | int | float | Pair | tuple[float, ...]"


@dataclass(frozen=True)
class Table:
    """Rows of cells below a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""


@dataclass(frozen=True)
class Bar:
    """One labelled length."""

    label: str
    value: float


@dataclass(frozen=True)
class Bars:
    """Groups of bars on one common logarithmic scale; `head` names group, label and value."""

    groups: tuple[tuple[str, tuple[Bar, ...]], ...]
    caption: str = ""
    head: tuple[str, str, str] = ("stack", "layer", "value")


@dataclass(frozen=True)
class Note:
    """One remark on what the run showed."""

    text: str


@dataclass(frozen=True)
class Verdict:
    """A claim of a source, beside what was measured here."""

    claim: str
    source: str
    measured: str
    reproduced: bool
    note: str = ""
    setup: str = ""


Result: TypeAlias = "Table | Bars | Note | Verdict"


@dataclass(frozen=True)
class Heading:
    text: str


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class Items:
    items: tuple[str, ...]


@dataclass(frozen=True)
class Fence:
    """Preformatted lines: a formula, a drawing, pseudocode."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Demo:
    """A run to be made when the topic is shown."""

    words: tuple[str, ...]


Block: TypeAlias = "Heading | Paragraph | Items | Fence | Demo"
