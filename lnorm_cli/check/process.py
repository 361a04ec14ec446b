"""lnorm's side of the worker: start it, ask it under a time limit, and start another when it is gone."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lnorm_cli

LOADING_SECONDS = 20.0
"""Least time that importing the user's file may take."""

MEMORY = 1 << 30
"""Bytes that the user's code may allocate beyond what is mapped after its import."""


class TimeLimitError(Exception):
    """No answer within the limit; the process has been ended."""


class DeathError(Exception):
    """The process ended by itself; str() says how."""


@dataclass(frozen=True)
class Limits:
    """Seconds for one call, seconds for the import, bytes of memory."""

    seconds: float = 5.0
    loading: float = LOADING_SECONDS
    memory: int = MEMORY


class Worker:
    """One worker process. `ask` sends a request and waits; `close` ends the process and its children."""

    def __init__(self) -> None:
        root = str(Path(lnorm_cli.__file__).resolve().parent.parent)
        inherited = os.environ.get("PYTHONPATH")
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "lnorm_cli.check.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([root, inherited] if inherited else [root])},
            start_new_session=True,
        )
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as stream, contextlib.suppress(OSError, ValueError):
            for line in stream:
                self._lines.put(line)
        self._lines.put(None)

    def ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """The reply to one request; `TimeLimitError` or `DeathError` when there is none."""
        assert self._process.stdin is not None
        message = json.dumps({**request, "seconds": seconds}).encode() + b"\n"
        try:
            with _broken_pipe_raises():
                self._process.stdin.write(message)
                self._process.stdin.flush()
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            self.close()
            raise TimeLimitError from None
        except OSError:
            line = None
        if line is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=1)
            self.close()
            raise DeathError(_how(self._process.returncode))
        reply: dict[str, Any] = json.loads(line)
        return reply

    def close(self) -> None:
        """End the process with everything it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:  # Windows
                self._process.kill()
        self._process.wait()
        self._reader.join(timeout=1)
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()


@contextlib.contextmanager
def _broken_pipe_raises() -> Iterator[None]:
    """Writing to a worker that is gone raises OSError, whatever the program does on SIGPIPE elsewhere."""
    if not hasattr(signal, "SIGPIPE") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGPIPE, before)


def _how(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"the process was ended by {signal.Signals(-code).name}"
    return f"the process ended with exit code {code}"
