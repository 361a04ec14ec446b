"""The terminal: any width, charset and colour rule. Primitives only; what is said stands with the callers."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Literal

from lnorm_cli.render.notation import ASCII, NO_BREAK, UNICODE, Notation

if TYPE_CHECKING:
    from rich.console import Console

NARROW = 60
"""Below this width labels stand above their text, not beside it."""

Style = Literal["", "title", "label", "dim", "good", "bad", "warn", "code"]
_STYLES = {
    "": "",
    "title": "bold",
    "label": "bold cyan",
    "dim": "dim",
    "good": "bold green",
    "bad": "bold red",
    "warn": "yellow",
    "code": "magenta",
}
_NEEDED = "μσ²εγβ√Σ≈≠·x̂█"


def visible(text: str) -> str:
    """Text of unknown origin with control characters written out, so that none reaches the terminal."""
    return "".join(
        character
        if character.isprintable() or character in "\u0302"
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def spelled(text: str) -> str:
    """Symbols of prose in ASCII: mu for its Greek letter, and so on."""
    text = re.sub(r"√(\w+)", r"sqrt(\1)", text)
    for symbol, name in _SPELLED:
        text = text.replace(symbol, name)
    return text.encode("ascii", "backslashreplace").decode("ascii")


_SPELLED = (
    (NO_BREAK, " "), ("Σ ", "sum "), ("σ²", "sigma^2"),
    ("x̂", "xhat"), ("μ", "mu"), ("σ", "sigma"), ("ε", "eps"), ("γ", "gamma"), ("β", "beta"),
    ("√", "sqrt"), ("Σ", "sum "), ("−", "-"), ("–", "-"), ("—", "-"), ("×", "x"), ("≈", "~"), ("≤", "<="), ("≥", ">="),
    ("→", "->"), ("∂", "d"), ("α", "alpha"), ("·", "*"), ("∞", "infinity"), ("²", "^2"), ("█", "#"), ("±", "+-"),
    ("≠", "!="), ("’", "'"), ("“", '"'), ("”", '"'), ("…", "..."),
)  # fmt: skip


class Terminal:
    """A stream that text is written to.

    `ascii` is what the user asked for, or follows from what the stream can encode; colour follows rich:
    none into a pipe, with NO_COLOR or on a dumb terminal, unless FORCE_COLOR asks for it.
    """

    def __init__(self, stream: IO[str] | None = None, *, ascii: bool = False, width: int | None = None) -> None:
        self.stream = stream or sys.stdout
        self.console = _console(self.stream)
        own = width or shutil.get_terminal_size((80, 24)).columns
        self.width = max(20, min(own, 100))
        self.ascii = ascii or not _encodes(self.stream, _NEEDED)

    @property
    def notation(self) -> Notation:
        return ASCII if self.ascii else UNICODE

    @property
    def narrow(self) -> bool:
        return self.width < NARROW

    def line(self, *parts: str | tuple[str, Style], indent: int = 0) -> None:
        """One line, as it is: parts are text, or text with a style."""
        pieces: list[tuple[str, Style]] = [(part, "") if isinstance(part, str) else part for part in parts]
        pieces = [(self._written(content), style) for content, style in pieces]
        if self.console is None:
            content = "".join(content for content, _ in pieces)
            self.stream.write(f"{' ' * indent}{content}".rstrip() + "\n")
            return
        from rich.text import Text

        text = Text(" " * indent)
        for content, style in pieces:
            text.append(content, _STYLES[style])
        self.console.print(text, soft_wrap=True)

    def _written(self, text: str) -> str:
        text = text.replace(NO_BREAK, " ")
        return spelled(text) if self.ascii else text

    def blank(self) -> None:
        self.line("")

    def title(self, text: str) -> None:
        self.paragraph(text, style="title")

    def paragraph(self, text: str, *, indent: int = 0, hang: int = 0, first: str = "", style: Style = "") -> None:
        """Prose wrapped at spaces; `first` (a bullet, a label) opens it, later lines hang by `hang`."""
        if self.ascii:
            text = NO_BREAK.join(map(spelled, text.split(NO_BREAK)))
        for i, content in enumerate(self.wrapped(first + text, indent, hang)):
            self.line((content, style), indent=indent if i == 0 else indent + hang)

    def wrapped(self, text: str, indent: int = 0, hang: int = 0) -> list[str]:
        """Lines of text that fit beside the indents; a word longer than a line stays whole."""
        wrapper = textwrap.TextWrapper(
            width=max(10, self.width - indent),
            subsequent_indent=" " * hang,
            break_long_words=False,
            break_on_hyphens=False,
        )
        return [line[hang:] if i else line for i, line in enumerate(wrapper.wrap(text))] or [""]

    def preformatted(self, text: str, *, indent: int = 2, style: Style = "") -> None:
        """Lines that keep their spaces, such as diagrams; one that is too wide goes on below, further in."""
        from rich.cells import cell_len

        for content in map(self._written, text.splitlines()):
            hang = len(content) - len(content.lstrip()) + 4
            fits = indent + cell_len(content) <= self.width
            for i, piece in enumerate([content] if fits else self.wrapped(content, indent, hang)):
                self.line((piece, style), indent=indent + hang if i else indent)

    def fits(self, columns: Sequence[Sequence[str]], *, indent: int = 0) -> bool:
        """Whether columns stand beside each other in the width."""
        from rich.cells import cell_len

        widths = [max(cell_len(self._written(cell)) for cell in column) for column in columns]
        return indent + sum(widths) + 2 * (len(widths) - 1) <= self.width

    def table(self, headers: Sequence[str], rows: Sequence[Sequence[str]], *, indent: int = 0) -> None:
        """A table with right-aligned columns; where it does not fit, each row becomes a block of lines."""
        from rich.cells import cell_len

        headers = list(map(self._written, headers))
        rows = [list(map(self._written, row)) for row in rows]
        columns = list(zip(headers, *rows, strict=True))
        if self.fits(columns, indent=indent):
            widths = [max(map(cell_len, column)) for column in columns]
            for style, row in [("label", headers), *(("", row) for row in rows)]:
                cells = [" " * (width - cell_len(cell)) + cell for cell, width in zip(row, widths, strict=True)]
                self.line(("  ".join(cells), "label" if style else ""), indent=indent)
            return
        label = max(map(cell_len, headers[1:]), default=0)
        for row in rows:
            self.line((f"{headers[0]} {row[0]}".strip(), "label"), indent=indent)
            for header, cell in zip(headers[1:], row[1:], strict=True):
                lead = f"{header}{' ' * (label - cell_len(header))}  "
                if indent + 2 + cell_len(lead + cell) <= self.width:
                    self.line(lead + cell, indent=indent + 2)
                    continue
                self.line(header, indent=indent + 2)
                for piece in self.wrapped(cell, indent + 4):
                    self.line(piece, indent=max(0, min(indent + 4, self.width - cell_len(piece))))


def _console(stream: IO[str]) -> Console | None:
    """rich's console where there can be colour; None for a plain pipe or file, which needs no import of it."""
    if os.environ.get("NO_COLOR") or not (stream.isatty() or os.environ.get("FORCE_COLOR")):
        return None
    from rich.console import Console

    # colour is settled above: rich before 14 takes an empty NO_COLOR for a set one
    return Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=True, no_color=False)


def _encodes(stream: IO[str], text: str) -> bool:
    try:
        text.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
