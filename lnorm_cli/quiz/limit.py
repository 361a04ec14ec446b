"""A time limit for work that is pure Python, such as sympy's: no thread, no process, no signal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class OutOfTime(BaseException):
    """The time is up. Not an Exception, so that a library's own `except Exception` lets it through."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime at the first Python call that is made after the time is up."""
    end = time.monotonic() + seconds

    def watch(frame: Any, event: str, argument: Any) -> None:
        if time.monotonic() > end:
            raise OutOfTime

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        yield
    finally:
        sys.settrace(before)
