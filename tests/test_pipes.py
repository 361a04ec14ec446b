"""Every command into a pipe that nobody reads, and stopped by Ctrl-C while it writes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from commands import MACHINE, QUIZ, furnish, leaves, words
from conftest import environment

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has neither SIGPIPE nor such a Ctrl-C")

RUNS = [
    "", "--version", *(" ".join([*path, "--help"]) for path in leaves()), *MACHINE,
    "compute 2 4 4 6", "diagnose 2 4 4 6 --given 1 2 3 9", "explain", "explain epsilon", "quiz --no-save",
    "quiz progress", "quiz grade answers.csv --pass 60", "check my.py:layer_norm --case one-row", "check --new new.py",
]  # fmt: skip
INTERRUPTED = """
import os, signal, sys
from lnorm_cli.__main__ import main

class Stream:
    def __init__(self, stream):
        self.stream = stream
    def __getattr__(self, name):
        return getattr(self.stream, name)
    def write(self, text):
        os.kill(os.getpid(), signal.SIGINT)
        return self.stream.write(text)

sys.stdout = Stream(sys.stdout)
main()
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("furnished")
    return folder, furnish(folder)


def said(done: subprocess.CompletedProcess[bytes]) -> str:
    """What went to stderr, without the notice that `check` gives before it runs a file."""
    return re.sub(r"^running .*\n", "", done.stderr.decode())


def start(command: list[str], place: tuple[Path, dict[str, str]], **streams: int) -> subprocess.CompletedProcess[bytes]:
    folder, env = place
    (folder / "new.py").unlink(missing_ok=True)
    return subprocess.run(
        [sys.executable, *command], input=QUIZ, stderr=subprocess.PIPE, cwd=folder, env=environment(env), timeout=60,
        check=False, **streams,
    )  # fmt: skip


def nobody() -> int:
    """The end of a pipe whose other end is closed."""
    read, write = os.pipe()
    os.close(read)
    return write


@pytest.mark.parametrize("line", RUNS, ids=lambda line: line or "nothing")
def test_nobody_reads(line: str, place) -> None:
    write = nobody()
    done = start(["-m", "lnorm_cli", *words(line)], place, stdout=write)
    os.close(write)
    assert (done.returncode, said(done)) == (141, "")


@pytest.mark.parametrize("line", ["compute 1 x", "nonsense", "compute --gama 1", "quiz --topic none", "check no.py:f"])
def test_nobody_reads_the_errors(line: str, place) -> None:
    folder, env = place
    write = nobody()
    done = subprocess.run(
        [sys.executable, "-m", "lnorm_cli", *words(line)], stdout=subprocess.PIPE, stderr=write, cwd=folder,
        stdin=subprocess.DEVNULL, env=environment(env), timeout=60, check=False,
    )  # fmt: skip
    os.close(write)
    assert (done.returncode, done.stdout) == (141, b"")


@pytest.mark.parametrize("line", RUNS, ids=lambda line: line or "nothing")
def test_ctrl_c_while_writing(line: str, place) -> None:
    done = start(["-c", INTERRUPTED, *words(line)], place, stdout=subprocess.PIPE)
    assert (done.returncode, said(done)) == (130, "")
    assert done.stdout.count(b"\n") <= 1
