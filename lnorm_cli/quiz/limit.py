"""A time limit for work in Python, such as sympy's."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

AGAIN = 0.1
"""Seconds until the alarm rings again, should the first one have been caught on the way."""


class OutOfTime(BaseException):
    """The time is up. Not an Exception, so that a library's own `except Exception` lets it through."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the block once the time is up.

    By the timer signal where there is one; elsewhere (Windows, other threads) by looking at the clock at every
    line that Python runs, which costs a few times the work.
    """
    alarm = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    with _alarm(seconds) if alarm else _watched(seconds):
        yield


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(signum: int, frame: Any) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _watched(seconds: float) -> Iterator[None]:
    end = time.monotonic() + seconds

    def watch(frame: Any, event: str, argument: Any) -> Any:
        if time.monotonic() > end:
            raise OutOfTime
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        yield
    finally:
        sys.settrace(before)
