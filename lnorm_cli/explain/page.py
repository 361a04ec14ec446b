"""A topic with its demos run: what the three formats lay out."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TypeAlias

from lnorm_cli.errors import InputError
from lnorm_cli.explain.content import Block, Demo, Result
from lnorm_cli.explain.demos import NAMES, run
from lnorm_cli.explain.demos.arguments import Options
from lnorm_cli.explain.markup import blocks
from lnorm_cli.explain.topics import Source, Topic, sources, topics


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
        parts.append(Ran(shlex.join(block.words), run(block.words, options)) if isinstance(block, Demo) else block)
    unused = sorted(options.given - options.used)
    if unused:
        flags = ", ".join(f"--{name}" for name in unused)
        raise InputError(f"nothing in the topic {topic.name} takes {flags}", hint="leave it out")
    return Page(topic, tuple(parts), tuple(sources()[id] for id in topic.sources))


def save_stacks(topic: Topic, options: Options, path: str) -> None:
    """Draw the stacks of the topic's first lab demo into a file; InputError for a topic without stacks."""
    for words in _draws(topic):
        from lnorm_cli import lab
        from lnorm_cli.explain.demos.arguments import Arguments
        from lnorm_cli.explain.demos.stacks import runs

        lab.save(runs(Arguments(words[1:], options)), path)
        return
    drawn = [other.name for other in topics() if _draws(other)]
    raise InputError(f"the topic {topic.name} draws no stacks", hint=f"--save goes with {', '.join(drawn)}")


def _draws(topic: Topic) -> list[tuple[str, ...]]:
    """The topic's demo blocks that run stacks of one depth."""
    demos = [block.words for block in blocks(topic.body) if isinstance(block, Demo)]
    return [words for words in demos if NAMES[words[0]] == "stacks" and "kinds=" in " ".join(words)]
