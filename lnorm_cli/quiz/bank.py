"""All items together: concept items, generators, a teacher's packs; found by key, topic or question id."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from lnorm_cli.errors import InputError
from lnorm_cli.quiz.content import own_items, read_pack
from lnorm_cli.quiz.generators import generators
from lnorm_cli.quiz.questions import Question

TOPICS = (
    "warmup", "layernorm", "axes", "batchnorm", "epsilon", "affine", "parameters", "residual", "gradients",
    "postnorm", "prenorm", "placement", "finalnorm", "porting", "rmsnorm", "precision", "backward", "block",
    "variants", "implement",
)  # fmt: skip
"""Topics in learning order; `warmup` is asked only."""

SEEDS = 1_000_000
"""Seeds run from 0 to one less."""


class Item(Protocol):
    """What can be asked again and again: a concept item or a generator."""

    @property
    def key(self) -> str: ...
    @property
    def topic(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def covers(self) -> tuple[str, ...]: ...
    @property
    def source(self) -> str: ...
    def question(self, seed: int) -> Question: ...


class Bank:
    """Items by key."""

    def __init__(self, packs: Iterable[str] = (), *, own: bool = True) -> None:
        items: list[Item] = [*own_items(), *generators().values()] if own else []
        self.items: dict[str, Item] = {item.key: item for item in items}
        for pack in packs:
            for item in read_pack(Path(pack), self.items):
                self.items[item.key] = item

    def topics(self) -> list[str]:
        """The topics that have items, in learning order; those of packs last."""
        found = {item.topic for item in self.items.values()}
        return [topic for topic in TOPICS if topic in found] + sorted(found - set(TOPICS))

    def topic(self, name: str) -> str:
        """The topic of a forgiving name: case, spaces, - and _ do not matter; InputError suggests."""
        plain = {_plain(topic): topic for topic in self.topics()}
        if _plain(name) in plain:
            return plain[_plain(name)]
        near = difflib.get_close_matches(_plain(name), plain, n=1)
        hint = f"did you mean {plain[near[0]]}?" if near else "one of " + ", ".join(self.topics())
        raise InputError(f"no items on the topic {name!r}", hint=hint)

    def of(self, topics: Sequence[str]) -> list[Item]:
        """The items of some topics (of all where none is named), in learning order."""
        order = self.topics()
        wanted = set(topics or order)
        found = [item for item in self.items.values() if item.topic in wanted]
        return sorted(found, key=lambda item: order.index(item.topic))

    def question(self, id: str) -> Question:
        """The question of an id such as `variance:7` or `axes-means-formula`."""
        key, _, seed = id.strip().partition(":")
        if key not in self.items:
            near = difflib.get_close_matches(key, self.items, n=1)
            raise InputError(f"no item {key!r}", hint=f"did you mean {near[0]}?" if near else "ids stand on the sheet")
        if seed and not re.fullmatch(r"[0-9]{1,9}", seed):
            raise InputError(f"{id!r} has no whole number after its colon", hint="copy the id from the sheet")
        question = self.items[key].question(int(seed or 0))
        if not seed and question.id != key:
            raise InputError(f"{key!r} needs the number that stands after it on the sheet", hint=f"such as {key}:7")
        return question


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).lower()
