"""What a session asks: what is due first, then new items, topics taking turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lnorm_cli.progress import Scheduled, due_first
from lnorm_cli.quiz.bank import SEEDS, Bank, Item
from lnorm_cli.quiz.dice import Dice
from lnorm_cli.quiz.questions import Question

WINDOW = 4
"""New items come from this many topics at a time, in learning order, so that a beginner is not asked the last."""


@dataclass(frozen=True)
class Planned:
    """One item of a session, and the seed of its question."""

    item: Item
    seed: int

    def question(self) -> Question:
        return self.item.question(self.seed)


@dataclass(frozen=True)
class Plan:
    """The questions of a session; `due` and `new` count them, the others are asked ahead of their time."""

    asked: tuple[Planned, ...]
    due: int
    new: int


def plan(
    bank: Bank,
    scheduled: Mapping[str, Scheduled],
    now: datetime,
    dice: Dice,
    *,
    count: int,
    topics: Sequence[str] = (),
    only_new: bool = False,
) -> Plan:
    """Choose `count` items: due ones, then new ones, then those that are due soonest."""
    items = bank.of(topics)
    by_key = {item.key: item for item in items}
    mine = {key: entry for key, entry in scheduled.items() if key in by_key}
    due = [by_key[key] for key in due_first(mine, now)]
    new = in_turn([item for item in items if item.key not in mine], dice)
    if only_new:
        chosen = new[:count]
        due_count = 0
    else:
        chosen = take_turns(due)[:count]
        due_count = len(chosen)
        chosen += new[: count - len(chosen)]
        early = sorted((e for e in mine.values() if e.due > now), key=lambda e: (e.due, e.key))
        chosen += [by_key[entry.key] for entry in early][: count - len(chosen)]
    new_count = sum(item.key not in mine for item in chosen)
    return Plan(tuple(Planned(item, dice.below(SEEDS)) for item in chosen), due_count, new_count)


def in_turn(items: Sequence[Item], dice: Dice, window: int = WINDOW) -> list[Item]:
    """Items in learning order, `window` topics taking turns, shuffled within each topic."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.topic, []).append(item)
    queues = [dice.shuffled(group) for group in groups.values()]
    mixed: list[Item] = []
    while queues:
        for queue in queues[:window]:
            mixed.append(queue.pop(0))
        queues = [queue for queue in queues if queue]
    return mixed


def take_turns(items: Sequence[Item]) -> list[Item]:
    """The items with their topics taking turns, otherwise in their order."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.topic, []).append(item)
    queues = list(groups.values())
    mixed: list[Item] = []
    while queues:
        mixed += [queue.pop(0) for queue in queues]
        queues = [queue for queue in queues if queue]
    return mixed
