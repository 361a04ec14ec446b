"""The topics: loading them, listing them in learning order, finding one by a forgiving name."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lnorm_cli.errors import InputError

DATA = Path(__file__).resolve().parent.parent / "data"


@dataclass(frozen=True)
class Topic:
    """One page: what its front matter says, and its Markdown body."""

    name: str
    title: str
    line: str
    order: int
    aliases: tuple[str, ...]
    covers: tuple[str, ...]
    sources: tuple[str, ...]
    body: str


@dataclass(frozen=True)
class Source:
    """A paper (with its arXiv id) or a page of documentation (with its address)."""

    id: str
    title: str
    authors: str
    year: int
    where: str

    @property
    def brief(self) -> str:
        """Authors (at most three), year, title and where to find it, in one line."""
        names = self.authors.split(", ")
        authors = self.authors if len(names) <= 3 else f"{names[0]} and others"
        return f"{authors} ({self.year}). {self.title}. {self.where}"


@cache
def _topic(path: Path) -> Topic:
    _, front, body = path.read_text(encoding="utf-8").split("+++\n", 2)
    fields = tomllib.loads(front)
    return Topic(
        path.stem,
        fields["title"],
        fields["line"],
        fields["order"],
        tuple(fields["aliases"]),
        tuple(fields["covers"]),
        tuple(fields["sources"]),
        body.strip("\n"),
    )


@cache
def topics() -> tuple[Topic, ...]:
    """All topics, in learning order."""
    return tuple(sorted(map(_topic, (DATA / "topics").glob("*.md")), key=lambda topic: topic.order))


@cache
def sources() -> Mapping[str, Source]:
    """Everything that may be cited, by id."""
    with (DATA / "sources.toml").open("rb") as file:
        entries: dict[str, dict[str, Any]] = tomllib.load(file)
    return {
        id: Source(
            id,
            entry["title"],
            entry["authors"],
            entry["year"],
            f"arXiv:{entry['arxiv']}" if "arxiv" in entry else entry["url"],
        )
        for id, entry in entries.items()
    }


def _key(name: str) -> str:
    """A name without case, blanks and punctuation: `Pre-Norm`, `pre_norm` and `prenorm` are one."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


@cache
def _names() -> Mapping[str, Topic]:
    return {_key(name): topic for topic in topics() for name in (topic.name, *topic.aliases)}


def find(name: str) -> Topic:
    """The topic of that name or alias; an `InputError` with suggestions when there is none."""
    key = _key(name)
    path = DATA / "topics" / f"{key}.md"
    if key and path.exists():
        return _topic(path)
    names = _names()
    if key in names:
        return names[key]
    close = difflib.get_close_matches(key, names, n=6, cutoff=0.6)
    starting = [known for known in names if len(key) > 1 and known.startswith(key)]
    suggested = list(dict.fromkeys(names[match].name for match in [*starting, *close]))[:3]
    hint = f"did you mean {' or '.join(suggested)}? " if suggested else ""
    raise InputError(f"there is no topic {name!r}", hint=f"{hint}`lnorm explain` lists all topics")
