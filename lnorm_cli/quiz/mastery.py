"""What the progress file says about a learner: mastery by topic, what is due, the most frequent misconceptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lnorm_cli.progress import Scheduled, Store
from lnorm_cli.quiz.bank import Bank

FREQUENT = 5
"""This many misconceptions are named."""


@dataclass(frozen=True)
class Standing:
    """One topic: items seen of all, how many are due, first answers and how many of them were right.

    `mastery` is the share of the topic's items that would be answered right now: each item counts with the
    chance that it is remembered, one last answered wrong or never seen with 0.
    """

    topic: str
    seen: int
    items: int
    due: int
    answered: int
    right: int
    mastery: float


def standings(
    bank: Bank, scheduled: Mapping[str, Scheduled], answers: list[dict[str, Any]], now: datetime
) -> list[Standing]:
    """Every topic, in learning order."""
    found = []
    for topic in bank.topics():
        keys = [item.key for item in bank.of([topic])]
        mine = [scheduled[key] for key in keys if key in scheduled]
        first = [a for a in answers if a["topic"] == topic and a["attempt"] == 1]
        found.append(
            Standing(
                topic=topic,
                seen=len(mine),
                items=len(keys),
                due=sum(entry.due <= now for entry in mine),
                answered=len(first),
                right=sum(a["outcome"] in ("right", "rounded", "partly") for a in first),
                mastery=sum(entry.known for entry in mine) / len(keys),
            )
        )
    return found


def misconceptions(answers: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """The misconceptions of wrong answers, most frequent first."""
    counted: Counter[str] = Counter(m for a in answers if a["outcome"] == "wrong" for m in a["misconceptions"])
    return sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))


def document(store: Store, bank: Bank, now: datetime) -> dict[str, Any]:
    """Everything as one JSON document."""
    answers = store.answers()
    scheduled = store.scheduled(now)
    return {
        "schema": "lnorm/quiz/1",
        "kind": "progress",
        "topics": [vars(standing) for standing in standings(bank, scheduled, answers, now)],
        "misconceptions": [{"id": name, "count": count} for name, count in misconceptions(answers)],
        "items": [
            {"key": entry.key, "topic": entry.topic, "due": entry.due.isoformat(), "known": entry.known}
            for entry in sorted(scheduled.values(), key=lambda entry: entry.due)
        ],
        "answers": [{key: value for key, value in answer.items() if key != "id"} for answer in answers],
    }
