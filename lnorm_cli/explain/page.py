"""A topic with its demos run: what the three formats lay out."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TypeAlias

from lnorm_cli.errors import InputError
from lnorm_cli.explain.content import Block, Demo, Result
from lnorm_cli.explain.demos import run
from lnorm_cli.explain.demos.arguments import Options
from lnorm_cli.explain.markup import blocks
from lnorm_cli.explain.topics import Source, Topic, sources


@dataclass(frozen=True)
class Ran:
    """A demo block with what its run gave."""

    command: str
    results: tuple[Result, ...]


Part: TypeAlias = "Block | Ran"


@dataclass(frozen=True)
class Page:
    """Everything that is shown of a topic."""

    topic: Topic
    parts: tuple[Part, ...]
    sources: tuple[Source, ...]


def page(topic: Topic, options: Options | None = None) -> Page:
    """Run the demos of a topic, with the reader's own values where a demo takes them.

    Options that no demo of the topic takes are refused, so that none is silently without effect.
    """
    options = options or Options()
    parts: list[Part] = []
    for block in blocks(topic.body):
        parts.append(
            Ran(shlex.join(block.words), run(block.words, options)) if isinstance(block, Demo) else block
        )
    unused = sorted(options.given - options.used)
    if unused:
        flags = ", ".join(f"--{name}" for name in unused)
        raise InputError(f"nothing in the topic {topic.name} takes {flags}", hint="leave it out")
    return Page(topic, tuple(parts), tuple(sources()[id] for id in topic.sources))
