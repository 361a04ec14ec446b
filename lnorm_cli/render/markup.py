"""The walk as Markdown and as LaTeX: fragments to paste into notes, both self-contained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

from lnorm_cli.render.notation import LATEX, NO_BREAK, UNICODE, Notation
from lnorm_cli.render.writer import Column, sides


class MarkdownWriter:
    """GitHub-flavoured Markdown with the numbers as plain text."""

    def __init__(self, stream: IO[str], notation: Notation = UNICODE) -> None:
        self.stream = stream
        self.notation = notation

    def _write(self, text: str = "") -> None:
        self.stream.write(text.replace(NO_BREAK, " ") + "\n")

    def title(self, text: str) -> None:
        self._write(f"# {text}\n")

    def section(self, text: str) -> None:
        self._write(f"\n## {text}\n")

    def given(self, name: str, value: str) -> None:
        self._write(f"- `{name} = {value}`")

    def step(self, number: int, name: str, formula: str, lines: Sequence[tuple[str, str]]) -> None:
        self._write(f"\n**{number}. {name}**\n\n```text\n{formula}")
        for relation, value in lines:
            self._write(f"  {relation} {value}")
        self._write("```")

    def table(self, columns: Sequence[Column]) -> None:
        self._write("\n| " + " | ".join(_cell(column.header) for column in columns) + " |")
        self._write("|" + " ---: |" * len(columns))
        for row in zip(*(column.cells for column in columns), strict=True):
            self._write("| " + " | ".join(map(_cell, row)) + " |")

    def notices(self, texts: Sequence[str]) -> None:
        self._write("\n**What to notice**\n")
        for text in texts:
            self._write(f"- {_plain(text)}")

    def other_row(self, name: str, value: str) -> None:
        self._write(f"- {name}: `{value}`")


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def _plain(text: str) -> str:
    """Prose in which a star or underscore is just that."""
    return text.replace("*", r"\*").replace("_", r"\_")


class LatexWriter:
    """A fragment for a document with amsmath: steps in align*, the table in an array."""

    notation = LATEX

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream
        self.itemizing = False

    def _write(self, text: str) -> None:
        self.stream.write(text.replace(NO_BREAK, " ") + "\n")

    def title(self, text: str) -> None:
        self._write("% needs \\usepackage{amsmath}")
        self._write(rf"\paragraph{{{_escaped(text)}}}")

    def section(self, text: str) -> None:
        self._write(rf"\paragraph{{{_escaped(text)}}}")

    def given(self, name: str, value: str) -> None:
        lines = _broken(value)
        if len(lines) == 1:
            self._write(rf"\[ {_symbol(name)} = {value} \]")
        else:
            self._write(rf"\begin{{align*}} {_symbol(name)} &= " + r" \\ &\quad ".join(lines) + r" \end{align*}")

    def step(self, number: int, name: str, formula: str, lines: Sequence[tuple[str, str]]) -> None:
        self._write(rf"\noindent {number}. {_escaped(name)}")
        self._write(r"\begin{align*}")
        left, equals, right = formula.rpartition(" = ")
        rows = [f"{left} &= {right}" if equals else f"{formula} &"]
        for relation, value in lines:
            rows += [f"&{relation} {part}" for part in _broken(value)[:1]]
            rows += [rf"&\quad {part}" for part in _broken(value)[1:]]
        if not equals:
            rows[:2] = [f"{rows[0]}{rows[1][1:]}"]
        self._write("  " + " \\\\\n  ".join(rows))
        self._write(r"\end{align*}")

    def table(self, columns: Sequence[Column]) -> None:
        for half in sides(columns):
            self._write(r"\[ \begin{array}{" + "r" * len(half) + "}")
            headers = [rf"\text{{{half[0].header}}}", *(column.header for column in half[1:])]
            self._write("  " + " & ".join(headers) + r" \\ \hline")
            for row in zip(*(column.cells for column in half), strict=True):
                self._write("  " + " & ".join(row) + r" \\")
            self._write(r"\end{array} \]")

    def notices(self, texts: Sequence[str]) -> None:
        self._write(r"\noindent What to notice")
        self._write(r"\begin{itemize}")
        for text in texts:
            self._write(rf"  \item {text}")
        self._write(r"\end{itemize}")

    def other_row(self, name: str, value: str) -> None:
        self._write(rf"\[ \text{{{_escaped(name)}: }} {value} \]")


def _broken(value: str, most: int = 70) -> list[str]:
    """A long list in several lines of an align*, broken between elements."""
    lines, current = [], ""
    for part in value.split(", "):
        if current and len(current) + len(part) > most:
            lines.append(current + ",")
            current = part
        else:
            current = f"{current}, {part}" if current else part
    return [*lines, current]


def _symbol(name: str) -> str:
    return name if name.startswith("\\") or len(name) == 1 else rf"\mathrm{{{_escaped(name)}}}"


def _escaped(text: str) -> str:
    """Text with LaTeX's special characters escaped."""
    special = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
    return "".join(special.get(c, f"\\{c}" if c in "&%$#_{}" else c) for c in text)
