"""What a learner has answered and when each item is due again: one SQLite file, written after every answer.

Nothing is created before the first answer. A damaged file is set aside and kept; where nothing can be saved
(read-only place, full disk, a file of a newer version) the quiz goes on with what it holds in memory.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lnorm_cli.progress.files import (
    ANSWER,
    BUSY_SECONDS,
    VERSION,
    damage,
    patiently,
    readable,
    reading,
    reason,
    set_aside,
)
from lnorm_cli.progress.schedule import CardError, Rating, chance, review

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
  id INTEGER PRIMARY KEY, at TEXT NOT NULL, key TEXT NOT NULL, question TEXT NOT NULL, topic TEXT NOT NULL,
  kind TEXT NOT NULL, attempt INTEGER NOT NULL, answer TEXT NOT NULL, outcome TEXT NOT NULL,
  hints INTEGER NOT NULL, misconceptions TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS cards (
  key TEXT PRIMARY KEY, topic TEXT NOT NULL, due TEXT NOT NULL, correct INTEGER NOT NULL, card TEXT NOT NULL
);
"""


@dataclass(frozen=True)
class Answered:
    """One graded answer. `rating` is what the schedule learns from it; None (a second attempt) changes nothing."""

    key: str
    question: str
    topic: str
    kind: str
    answer: str
    outcome: str
    attempt: int = 1
    hints: int = 0
    misconceptions: tuple[str, ...] = ()
    rating: Rating | None = None


@dataclass(frozen=True)
class Scheduled:
    """Where an item stands: when it is due, and how likely it would be known now (0 after a wrong answer)."""

    key: str
    topic: str
    due: datetime
    known: float


@dataclass(frozen=True)
class _Card:
    """The schedule of one item; `text` is the card of FSRS."""

    topic: str
    due: datetime
    correct: bool
    text: str


@dataclass
class Store:
    """The progress file. `tell` is called, once each, with why nothing can be saved or what was set aside."""

    path: Path
    save: bool = True
    tell: Callable[[str], object] = lambda text: None
    notes: list[str] = field(default_factory=list)
    _cards: dict[str, _Card] = field(default_factory=dict)
    _file: sqlite3.Connection | None = None

    def __post_init__(self) -> None:
        try:
            self._look()
        except (OSError, sqlite3.Error) as error:
            self._give_up(f"{self.path}: {reason(error)}")

    def _look(self) -> None:
        """Read what is due; set a damaged file aside. Creates nothing."""
        if not self.path.exists() or self.path.stat().st_size == 0:
            return
        trouble = damage(self.path)
        if not trouble:
            with reading(self.path) as connection:
                version = connection.execute("PRAGMA user_version").fetchone()[0]
                if version > VERSION:
                    self._give_up(f"{self.path} was written by a newer lnorm")
                if version != VERSION:
                    return
                trouble = self._load(connection)
        if trouble:
            self._begin_afresh(trouble)

    def _begin_afresh(self, trouble: str) -> None:
        """Set the file aside, where it may be touched, and forget what was read of it."""
        self._cards = {}
        if self.save:
            kept = set_aside(self.path)
            self._note(f"{self.path} is damaged ({trouble}). It is kept as {kept.name}, and progress starts afresh.")
        else:
            self._note(f"{self.path} is damaged ({trouble}).")

    def _load(self, connection: sqlite3.Connection) -> str:
        """Read the cards; returns what is wrong with one that cannot be read."""
        cards: dict[str, _Card] = {}
        for key, topic, due, correct, text in connection.execute("SELECT key, topic, due, correct, card FROM cards"):
            try:
                _expect(str, key, topic, due, text)
                _expect(int, correct)
                cards[key] = _Card(topic, datetime.fromisoformat(due).astimezone(UTC), bool(correct), text)
                chance(text, datetime.now(UTC))
            except (ValueError, TypeError, OverflowError) as error:
                return f"the entry of {key!r} cannot be read: {error}"
        self._cards = cards
        return ""

    def _note(self, text: str) -> None:
        self.notes.append(text)
        self.tell(text)

    def _give_up(self, why: str) -> None:
        if self.save:
            self._note(f"progress is not saved: {why}")
        self.save = False

    def record(self, answered: Answered, now: datetime | None = None) -> datetime | None:
        """Commit one answer; returns when the item is due again. Never raises: trouble becomes a note."""
        now = now or datetime.now(UTC)
        card = None
        if self.save:
            try:
                card = self._commit(answered, now)
            except (OSError, sqlite3.Error) as error:
                self.close()
                self._give_up(f"{self.path}: {reason(error)}")
        if not self.save:
            card = _next(answered, self._cards.get(answered.key), now)
        if card is not None:
            self._cards[answered.key] = card
        return card.due if card is not None else None

    def _commit(self, answered: Answered, now: datetime) -> _Card | None:
        """Write the answer and its card in one transaction."""
        file = self._open()
        file.execute("BEGIN IMMEDIATE")
        try:
            row = file.execute("SELECT topic, due, correct, card FROM cards WHERE key = ?", (answered.key,)).fetchone()
            before = _Card(row[0], datetime.fromisoformat(row[1]), bool(row[2]), row[3]) if row else None
            card = _next(answered, before, now)
            file.execute(
                "INSERT INTO answers (at, key, question, topic, kind, attempt, answer, outcome, hints, misconceptions)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                _columns(answered, now),
            )
            if card is not None:
                file.execute(
                    "INSERT INTO cards VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET"
                    " topic = excluded.topic, due = excluded.due, correct = excluded.correct, card = excluded.card",
                    (answered.key, card.topic, card.due.isoformat(), card.correct, card.text),
                )
            file.execute("COMMIT")
        except BaseException:
            if file.in_transaction:
                file.execute("ROLLBACK")
            raise
        return card

    def _open(self) -> sqlite3.Connection:
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
            self._file.text_factory = readable
            self._file.execute("PRAGMA synchronous = FULL")
            patiently(self._file, "PRAGMA journal_mode = WAL")
            if self._file.execute("PRAGMA user_version").fetchone()[0] < VERSION:
                patiently(self._file, f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT")
        return self._file

    def close(self) -> None:
        """Let go of the file; the next answer opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __del__(self) -> None:
        self.close()

    def scheduled(self, now: datetime | None = None) -> dict[str, Scheduled]:
        """Every item that was answered."""
        now = now or datetime.now(UTC)
        return {
            key: Scheduled(key, card.topic, card.due, chance(card.text, now) if card.correct else 0.0)
            for key, card in self._cards.items()
        }

    def answers(self) -> list[dict[str, Any]]:
        """Every saved answer, in order. Never raises: trouble becomes a note."""
        try:
            rows = self._rows()
            try:
                return [_answer(row) for row in rows]
            except (ValueError, TypeError, RecursionError) as error:
                self._begin_afresh(f"an answer cannot be read: {error}")
        except (OSError, sqlite3.Error) as error:
            self._give_up(f"{self.path}: {reason(error)}")
        return []

    def _rows(self) -> list[tuple[Any, ...]]:
        """The table of answers; empty where the file is of another version, or nothing was written yet."""
        if not self.path.exists() or damage(self.path):
            return []
        with reading(self.path) as connection:
            if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                return []
            return connection.execute(f"SELECT {', '.join(ANSWER)} FROM answers ORDER BY id").fetchall()

    def reset(self) -> None:
        """Forget everything; raises OSError or sqlite3.Error where that fails."""
        if self.path.exists():
            connection = self._open()
            patiently(connection, "BEGIN IMMEDIATE; DELETE FROM answers; DELETE FROM cards; COMMIT")
        self._cards.clear()


def _columns(answered: Answered, now: datetime) -> tuple[Any, ...]:
    """A row of the table of answers; text that is no valid Unicode is written with its marks replaced."""
    text = answered.answer.encode("utf-8", "replace").decode()
    return (
        now.isoformat(),
        answered.key,
        answered.question,
        answered.topic,
        answered.kind,
        answered.attempt,
        text,
        answered.outcome,
        answered.hints,
        json.dumps(answered.misconceptions),
    )


def _answer(row: tuple[Any, ...]) -> dict[str, Any]:
    """A row of the table of answers as it was given; ValueError or TypeError for one that lnorm never wrote."""
    found = dict(zip(ANSWER, row, strict=True))
    found["misconceptions"] = json.loads(found["misconceptions"])
    _expect(int, found["attempt"], found["hints"])
    _expect(list, found["misconceptions"])
    _expect(str, *(found[name] for name in ANSWER if name not in ("attempt", "hints", "misconceptions")))
    _expect(str, *found["misconceptions"])
    return found


def _expect(kind: type, *cells: object) -> None:
    """TypeError for a cell of another kind: SQLite keeps whatever it is given."""
    for cell in cells:
        if not isinstance(cell, kind):
            raise TypeError(f"{cell!r:.40} is no {kind.__name__}")


def _next(answered: Answered, before: _Card | None, now: datetime) -> _Card | None:
    """The card after an answer."""
    if answered.rating is None:
        return before
    try:
        due, text = review(before.text if before else None, answered.rating, now)
    except CardError:  # the item begins anew
        due, text = review(None, answered.rating, now)
    return _Card(answered.topic, due, answered.rating != "again", text)


def due_first(scheduled: dict[str, Scheduled], now: datetime) -> Sequence[str]:
    """The keys that are due, longest overdue first."""
    due = [entry for entry in scheduled.values() if entry.due <= now]
    return [entry.key for entry in sorted(due, key=lambda entry: (entry.due, entry.key))]
