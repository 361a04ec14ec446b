"""Helpers that every test file may use: run the command, and evaluate what it prints by other means."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from unittest import mock

import mpmath  # type: ignore[import-untyped]
from hypothesis import settings
from hypothesis.configuration import set_hypothesis_home_dir

# A runner in the background may ignore SIGINT, and its children would inherit that: the tests of Ctrl-C need it.
signal.signal(signal.SIGINT, signal.default_int_handler)
set_hypothesis_home_dir(os.path.join(tempfile.gettempdir(), "hypothesis-of-lnorm"))  # keep the clone clean
settings.register_profile("lnorm", deadline=None, database=None, derandomize=True, print_blob=False)
settings.load_profile("lnorm")

_CLEAN = (
    "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TERM", "PYTHONIOENCODING", "PYTHONUTF8", "PYTHONUNBUFFERED",
    "LNORM_DATA_DIR",
)  # fmt: skip


@dataclass(frozen=True)
class Result:
    """What a run of the command left behind."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


def environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment without what changes the output, then what the test sets."""
    kept = {name: value for name, value in os.environ.items() if name not in _CLEAN}
    return {**kept, "COLUMNS": "80", **(env or {})}


def run(
    *args: str, stdin: str | bytes | None = None, env: Mapping[str, str] | None = None, encoding: str = "utf-8"
) -> Result:
    """The real command in a process of its own."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [sys.executable, "-m", "lnorm_cli", *args],
        input=data,
        stdin=subprocess.DEVNULL if data is None else None,
        capture_output=True,
        env=environment({"PYTHONIOENCODING": encoding, **(env or {})}),
        timeout=60,
        check=False,
    )
    return Result(done.returncode, done.stdout.decode(encoding), done.stderr.decode(encoding))


def invoke(
    *args: str, stdin: str | bytes = b"", env: Mapping[str, str] | None = None, encoding: str = "utf-8"
) -> Result:
    """The same in this process, with its streams captured: thirty times faster."""
    from lnorm_cli.cli.edge import run as run_here

    data = stdin.encode() if isinstance(stdin, str) else stdin
    written = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(buffer, encoding=encoding, newline="") for buffer in written)
    patched = mock.patch.multiple(sys, stdin=io.TextIOWrapper(io.BytesIO(data)), stdout=out, stderr=err)
    with mock.patch.dict(os.environ, environment(env), clear=True), patched:
        code = run_here(list(args))
        out.flush()
        err.flush()
    return Result(code, *(buffer.getvalue().decode(encoding) for buffer in written))


def evaluate(text: str, digits: int = 50) -> Any:
    """The value of an exact string by mpmath, knowing nothing of lnorm's own grammar."""
    source = re.sub(r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", r"mpf('\g<0>')", text.replace("^", "**"))
    with mpmath.workdps(digits):
        return +mpmath.mpf(
            eval(source, {"mpf": mpmath.mpf, "sqrt": mpmath.sqrt, "pi": mpmath.pi, "abs": abs, "__builtins__": {}})
        )


def near(text: str, truth: str | Any, digits: int = 30) -> bool:
    """Whether an exact string has this value, to `digits` figures relative to the larger of it and 1e-30."""
    with mpmath.workdps(digits + 20):
        value, right = evaluate(text, digits + 20), mpmath.mpf(truth)
        return bool(abs(value - right) <= mpmath.mpf(10) ** -digits * max(abs(right), mpmath.mpf(10) ** -30))
