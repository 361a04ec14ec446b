"""The walk on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from lnorm_cli.render.notation import Notation
from lnorm_cli.render.terminal import Terminal
from lnorm_cli.render.writer import Column, sides

LABEL = 26
"""Width of the left column, where the terminal is wide enough for two."""


class TextWriter:
    """Steps in two columns (name; formula and values), or stacked on a narrow terminal."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.notation: Notation = terminal.notation
        self.opened = False

    def title(self, text: str) -> None:
        self.terminal.title(text)
        self.opened = True

    def section(self, text: str) -> None:
        self.terminal.blank()
        self.terminal.paragraph(text, style="title")
        self.opened = False

    def given(self, name: str, value: str) -> None:
        if self.opened:
            self.terminal.blank()
        self.opened = False
        self._entry(f"{name} = ", value, indent=2)

    def step(self, number: int, name: str, formula: str, lines: Sequence[tuple[str, str]]) -> None:
        label = f"{number:>2} {name}"
        self.terminal.blank()
        if self.terminal.narrow:
            self.terminal.line((label, "label"))
            self._entry("", formula, indent=3)
            for relation, value in self._joined(lines):
                self._entry(f"{relation} ", value, indent=3)
            return
        if len(label) >= LABEL:
            self.terminal.line((label, "label"))
            label = ""
        self._entry("", formula, indent=LABEL, label=label)
        for relation, value in self._joined(lines):
            self._entry(f"  {relation} ", value, indent=LABEL)

    def _joined(self, lines: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """The exact value and its float on one line, where there is room for both."""
        if len(lines) < 2:
            return list(lines)
        *others, (first, value), (second, decimal) = lines
        both = f"{value} {second} {decimal}"
        if len(both) <= self.terminal.width - (6 if self.terminal.narrow else LABEL + 4):
            return [*others, (first, both)]
        return list(lines)

    def _entry(self, lead: str, value: str, *, indent: int, label: str = "") -> None:
        """A value after its lead, wrapped between elements and never inside a number."""
        terminal = self.terminal
        for i, line in enumerate(terminal.wrapped(lead + value, indent, len(lead))):
            if i == 0 and label:
                terminal.line((f"{label} ".ljust(indent), "label"), line)
            elif i == 0 and lead.strip():
                terminal.line((line[: len(lead)], "dim"), line[len(lead) :], indent=indent)
            else:
                hang = indent + (len(lead) if i else 0)
                terminal.line(line, indent=max(0, min(hang, terminal.width - len(line))))

    def table(self, columns: Sequence[Column]) -> None:
        """One table where it fits; else the decimals, below the exact side if that fits; else a block a feature."""
        parts: Sequence[Sequence[Column]] = [columns]
        if not self._fits(columns) and self._fits(sides(columns)[-1]):
            parts = [side for side in sides(columns) if self._fits(side)]
        for part in parts:
            self.terminal.blank()
            self._table(part)

    def _fits(self, columns: Sequence[Column]) -> bool:
        return self.terminal.fits([[column.header, *column.cells] for column in columns], indent=1)

    def _table(self, columns: Sequence[Column]) -> None:
        rows = list(zip(*(column.cells for column in columns), strict=True))
        self.terminal.table([column.header for column in columns], rows, indent=1)

    def notices(self, texts: Sequence[str]) -> None:
        self.terminal.blank()
        self.terminal.title("What to notice")
        for text in texts:
            self.terminal.paragraph(text, first="- ", hang=2, indent=1)

    def other_row(self, name: str, value: str) -> None:
        self._entry(f"{name}  ", value, indent=2)
