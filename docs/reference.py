"""Write docs/reference.md, every command's help as it prints: python docs/reference.py."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

COMMANDS = (
    [],
    ["compute"],
    ["explain"],
    ["quiz"],
    ["quiz", "worksheet"],
    ["quiz", "grade"],
    ["quiz", "progress"],
    ["quiz", "export"],
    ["diagnose"],
    ["check"],
)
TARGET = Path(__file__).with_name("reference.md")
HEAD = """# Reference

Every command and option, as `--help` prints it. This page is written by `docs/reference.py`; a test compares it.

| exit code | meaning |
| --- | --- |
| 0 | done; the answer or the code is right |
| 1 | the answer or the code is wrong (`diagnose`, `check`, `quiz grade` below `--pass`) |
| 2 | usage, unreadable or invalid input, code that cannot be loaded |
| 130, 141 | Ctrl-C, closed pipe; both silent |

`--debug` with any command shows the traceback behind an internal error. `NO_COLOR` switches colour off, `FORCE_COLOR`
on; `COLUMNS` sets the width of a pipe; `LNORM_DATA_DIR` moves the quiz's progress file.
"""


def text() -> str:
    """The whole page."""
    parts = [HEAD]
    for command in COMMANDS:
        arguments = [sys.executable, "-m", "lnorm_cli", *command, "--help"]
        environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
        shown = subprocess.run(arguments, capture_output=True, text=True, env=environment, check=True).stdout
        parts.append(f"\n## {' '.join(['lnorm', *command])}\n\n```text\n{shown.rstrip()}\n```\n")
    return "".join(parts)


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
