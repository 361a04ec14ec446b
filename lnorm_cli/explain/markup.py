"""The Markdown that topics are written in: headings, paragraphs, lists, fenced blocks and demo blocks."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from lnorm_cli.explain.content import Block, Demo, Fence, Heading, Items, Paragraph

CITATION = re.compile(r"\[([a-z][a-z0-9-]*[0-9a-z])\]")
"""A source in brackets, such as [ba2016]."""


def blocks(body: str) -> Iterator[Block]:
    """The blocks of a topic, in order."""
    lines = iter(body.split("\n"))
    held: list[str] = []
    for line in lines:
        if line.startswith("```"):
            yield from _text(held)
            held = []
            yield _fence(line[3:].strip(), lines)
        elif not line.strip() or line.startswith("## "):
            yield from _text(held)
            held = []
            if line.strip():
                yield Heading(line[3:].strip())
        else:
            held.append(line)
    yield from _text(held)


def _fence(info: str, lines: Iterator[str]) -> Block:
    inside = []
    for line in lines:
        if line.startswith("```"):
            break
        inside.append(line)
    return Demo(tuple(shlex.split(" ".join(inside)))) if info == "demo" else Fence(tuple(inside))


def _text(lines: list[str]) -> Iterator[Block]:
    """A paragraph, a list, or nothing."""
    if not lines:
        return
    if not lines[0].startswith("- "):
        yield Paragraph(" ".join(line.strip() for line in lines))
        return
    items: list[str] = []
    for line in lines:
        if line.startswith("- "):
            items.append(line[2:].strip())
        else:
            items[-1] += " " + line.strip()
    yield Items(tuple(items))
