"""The progress file as a file: reading it, waiting for it, telling that it is damaged, setting it aside."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

VERSION = 1
"""Version of the tables."""

ANSWER = ("at", "key", "question", "topic", "kind", "attempt", "answer", "outcome", "hints", "misconceptions")
"""The columns of an answer."""

BUSY_SECONDS = 10.0
"""How long one quiz waits for another that is just writing."""

_MAGIC = b"SQLite format 3\0"


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that can only read."""
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS, isolation_level=None
    )
    connection.text_factory = readable
    try:
        yield connection
    finally:
        connection.close()


def readable(data: bytes) -> str:
    """The text of a cell; what is no UTF-8 in a damaged one is marked and does not stop the reading."""
    return data.decode("utf-8", "replace")


def patiently(connection: sqlite3.Connection, script: str) -> None:
    """Run statements, again while another process holds the file: a change of mode does not wait by itself."""
    end = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.executescript(script)
            return
        except sqlite3.OperationalError as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if not _is_busy(error) or time.monotonic() > end:
                raise
            time.sleep(0.02)


def _is_busy(error: sqlite3.Error) -> bool:
    return "locked" in str(error) or "busy" in str(error)


def damage(path: Path) -> str:
    """Why the file cannot be a progress file; empty where it can."""
    with path.open("rb") as file:
        head = file.read(16)
    if head and head != _MAGIC:
        return "it is not an SQLite database"
    try:
        with reading(path) as connection:
            check = connection.execute("PRAGMA quick_check").fetchone()[0]
            if check != "ok":
                return str(check)
            if connection.execute("PRAGMA user_version").fetchone()[0] == VERSION:
                connection.execute("SELECT key, topic, due, correct, card FROM cards LIMIT 1").fetchone()
                connection.execute(f"SELECT {', '.join(ANSWER)} FROM answers LIMIT 1").fetchone()
    except sqlite3.OperationalError as error:
        if "no such" in str(error) or "malformed" in str(error):
            return str(error)
        raise
    except sqlite3.DatabaseError as error:
        return str(error)
    except UnicodeDecodeError:  # SQLite's own message would quote what is damaged
        return "its schema is not text"
    return ""


def set_aside(path: Path) -> Path:
    """Rename a damaged file (and its journal) to a name of its own."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    for number in range(1000):
        kept = path.with_name(f"{path.stem}.damaged-{stamp}{f'-{number}' if number else ''}{path.suffix}")
        if not kept.exists():
            break
    os.replace(path, kept)
    for ending in ("-wal", "-shm"):
        journal = path.with_name(path.name + ending)
        if journal.exists():
            os.replace(journal, kept.with_name(kept.name + ending))
    return kept


def reason(error: Exception) -> str:
    """Why a file cannot be used, in words."""
    if isinstance(error, (FileExistsError, NotADirectoryError)):
        return "there is a file where its directory should be"
    return getattr(error, "strerror", None) or str(error)
