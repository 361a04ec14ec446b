"""Help that fits the terminal: typer's own lays it out for fifty columns at least."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup

_Formatter: Any = typer.Context.formatter_class


class Formatter(_Formatter):  # type: ignore[misc]
    """Lays help out for any width from 20 to 80 columns."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        columns = shutil.get_terminal_size((80, 24)).columns
        super().__init__(indent_increment, width=width or max(20, min(columns, max_width or 80)) - 2)

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        self.write(textwrap.fill(f"{prefix or 'Usage: '}{prog} {args}", self.width, subsequent_indent="  ") + "\n")

    def write_text(self, text: str) -> None:
        """Paragraphs; of one that keeps its lines (it opens with \\b) the examples, which are indented, stay whole."""
        paragraphs = [self._lines(part) if part.startswith("\b\n") else part for part in text.split("\n\n")]
        super().write_text("\n\n".join(paragraphs))

    def _lines(self, text: str) -> str:
        width = self.width - self.current_indent + 2  # they were cut by hand, for a terminal of 80
        lines = [[line] if line.startswith(" ") else textwrap.wrap(line, width) for line in text.splitlines()[1:]]
        return "\n".join(["\b", *(piece for pieces in lines for piece in pieces)])

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Terms beside what they mean; below each other where they would take half of the width."""
        rows = list(rows)
        if min(max(len(term) for term, _ in rows), col_max) + col_spacing <= self.width // 2:
            super().write_dl(rows, col_max, col_spacing)
            return
        for term, meaning in rows:
            for text, indent in (" ".join(term.split()), self.current_indent), (meaning, self.current_indent + 4):
                pad = " " * indent
                wrapped = textwrap.wrap(
                    text, self.width, initial_indent=pad, subsequent_indent=pad, break_long_words=False
                )
                self.write("".join(f"{line}\n" for line in wrapped))


class Group(TyperGroup):
    """A group whose help tells what its commands do in full, under `headings` where it has any."""

    headings: ClassVar[Mapping[str, Sequence[str]]] = {}

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        width = max(map(len, self.commands), default=0)
        for heading, names in (self.headings or {"Commands": tuple(self.commands)}).items():
            entries = [
                (name.ljust(width), self.commands[name].get_short_help_str(limit=78))
                for name in names
                if name in self.commands
            ]
            if entries:
                with formatter.section(heading):
                    formatter.write_dl(entries)


def use_own_help(command: Any) -> None:
    """Have a command and its subcommands lay their help out by `Formatter`."""
    command.context_class = type("Context", (command.context_class,), {"formatter_class": Formatter})
    for subcommand in getattr(command, "commands", {}).values():
        use_own_help(subcommand)
