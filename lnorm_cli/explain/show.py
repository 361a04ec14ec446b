"""A page on the terminal."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from lnorm_cli.explain.cells import decimal, written
from lnorm_cli.explain.content import (
    Bars,
    Cell,
    Fence,
    Heading,
    Items,
    Note,
    Paragraph,
    Result,
    Table,
    Verdict,
)
from lnorm_cli.explain.page import Page, Part, Ran
from lnorm_cli.explain.topics import Topic
from lnorm_cli.render.notation import unicode_roots
from lnorm_cli.render.terminal import Terminal, spelled

BAR = 24
"""Longest bar, in characters."""


def show_list(terminal: Terminal, topics: Sequence[Topic]) -> None:
    """All topics in learning order, a line each."""
    terminal.title("Topics, in learning order")
    terminal.blank()
    longest = max(len(topic.name) for topic in topics)
    for topic in topics:
        if terminal.narrow:
            terminal.line((f"{topic.order:2} ", "dim"), (topic.name, "label"))
            terminal.paragraph(topic.line, indent=3)
        else:
            terminal.line((f"{topic.order:2} ", "dim"), (topic.name.ljust(longest + 2), "label"), topic.line)
    terminal.blank()
    terminal.paragraph("lnorm explain TOPIC shows one, such as: lnorm explain prenorm")


def show_page(terminal: Terminal, page: Page) -> None:
    """A topic: its prose, what its demos gave, and its sources."""
    terminal.title(page.topic.title)
    for part in page.parts:
        terminal.blank()
        _part(terminal, part)
    terminal.blank()
    terminal.line(("Sources", "title"))
    for source in page.sources:
        terminal.paragraph(source.brief, first=f"[{source.id}] ", hang=2)


def _part(terminal: Terminal, part: Part) -> None:
    if isinstance(part, Heading):
        terminal.line((plain(part.text), "title"))
    elif isinstance(part, Paragraph):
        terminal.paragraph(plain(part.text))
    elif isinstance(part, Items):
        for item in part.items:
            terminal.paragraph(plain(item), first="- ", hang=2)
    elif isinstance(part, Fence):
        terminal.preformatted("\n".join(part.lines), indent=0 if terminal.narrow else 2, style="code")
    elif isinstance(part, Ran):
        for number, result in enumerate(part.results):
            if number and not isinstance(result, Note):
                terminal.blank()
            _result(terminal, result)


def plain(text: str) -> str:
    """Markdown's emphasis marks taken off; code keeps its backticks, which say where it ends."""
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = [re.sub(r"\*(\S(?:[^*]*\S)?)\*", r"\1", part) for part in parts[::2]]
    return "".join(parts)


def _result(terminal: Terminal, result: Result) -> None:
    indent = 0 if terminal.narrow else 2
    if isinstance(result, Table):
        if result.caption:
            terminal.paragraph(result.caption, indent=indent)
        _table(terminal, result, indent)
    elif isinstance(result, Bars):
        _bars(terminal, result, indent)
    elif isinstance(result, Verdict):
        _verdict(terminal, result, indent)
    else:
        terminal.paragraph(result.text, indent=indent)


def _table(terminal: Terminal, table: Table, indent: int) -> None:
    """A table whose columns of words align to the left; where it does not fit, a record for each row."""
    from rich.cells import cell_len

    lines = [list(table.head), *([written(cell) for cell in row] for row in table.rows)]
    write = spelled if terminal.ascii else unicode_roots
    lines = [[write(text) for text in line] for line in lines]
    columns = list(zip(*lines, strict=True))
    if not terminal.fits(columns, indent=indent):
        _records(terminal, lines[0], lines[1:], indent)
        return
    for place, column in enumerate(columns):
        if any(_is_words(row[place]) for row in table.rows):
            width = max(map(cell_len, column))
            for line in lines:
                line[place] += " " * (width - cell_len(line[place]))
    terminal.table(lines[0], lines[1:], indent=indent)


def _is_words(cell: Cell) -> bool:
    return isinstance(cell, str) and (not cell or re.search("[a-zA-Z]{2}", cell.replace("sqrt(", "")) is not None)


def _records(terminal: Terminal, head: Sequence[str], rows: Sequence[Sequence[str]], indent: int) -> None:
    for first, *others in rows:
        terminal.paragraph(f"{head[0]} {first}".strip(), indent=indent, hang=2, style="label")
        for label, cell in zip(head[1:], others, strict=True):
            if cell:
                terminal.paragraph(cell, first=f"{label}  ", indent=indent + 2, hang=2)


def _verdict(terminal: Terminal, verdict: Verdict, indent: int) -> None:
    mark = "reproduced" if verdict.reproduced else "not reproduced"
    terminal.paragraph(f"{verdict.claim} [{verdict.source}]", indent=indent)
    terminal.paragraph(verdict.measured, first="measured: ", indent=indent + 2, hang=2)
    terminal.line((mark, "good" if verdict.reproduced else "warn"), indent=indent + 2)
    if verdict.note:
        terminal.paragraph(verdict.note, indent=indent + 2, style="dim")


def _bars(terminal: Terminal, bars: Bars, indent: int) -> None:
    if bars.caption:
        terminal.paragraph(bars.caption, indent=indent)
    shown = [bar for _, group in bars.groups for bar in group]
    label = max(len(bar.label) for bar in shown)
    number = max(len(decimal(bar.value)) for bar in shown)
    room = min(BAR, terminal.width - indent - label - number - 2)
    lengths = iter(_lengths([bar.value for bar in shown], room))
    for name, group in bars.groups:
        terminal.line((name, "label"), indent=indent)
        for bar in group:
            length = next(lengths)
            terminal.line(
                f"{bar.label:>{label}} {decimal(bar.value):>{number}} ", ("█" * length, "good"), indent=indent
            )


def _lengths(values: Sequence[float], room: int) -> Iterator[int]:
    """Lengths from 1 to `room` on a common log scale of at least one decade; 0 for what has no logarithm."""
    logs = [math.log10(value) if math.isfinite(value) and value > 0 else None for value in values]
    known = [log for log in logs if log is not None]
    low = min(known, default=0.0)
    span = max(max(known, default=1.0) - low, 1.0)
    for log in logs:
        yield 0 if log is None or room < 1 else 1 + round((room - 1) * (log - low) / span)
