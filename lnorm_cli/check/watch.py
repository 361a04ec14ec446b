"""Wait for a file to be saved."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

INTERVAL = 0.3
"""Seconds between two looks."""


def saves(path: Path, interval: float = INTERVAL) -> Iterator[None]:
    """Yield once at the beginning and after every change of the file; a file that is gone is waited for."""
    seen = _stamp(path)
    yield
    while True:
        time.sleep(interval)
        now = _stamp(path)
        if now is not None and now != seen:
            seen = now
            yield


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
