"""Every command with arguments that make it print, for what must hold of all of them: widths, charsets, pipes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from conftest import invoke

RUNS = [
    "", "--help", "--version",
    "compute 2 4 4 6", "compute -1/3 'sqrt(2)' 7 --gamma 1/2,1,3/2 --beta 0.25", "compute 2 4 1 3 --backward 1 0 0 0",
    "compute 1 2 3 --gamma 1/2,1,3/2 --beta 0.25 --eps 1e-3", "compute 600 -600 0 0 --dtype float16",
    "compute 0.1 0.2 1/7 --dtype bfloat16 --accumulate float32", "compute -i x.json --norm batch", "compute -i x.csv",
    "diagnose 2 4 4 6 --given -1.2247 0 0 1.2247", "diagnose 2 4 4 6 --given 1 2 3 9", "diagnose -1 1 --given -1 1",
    "diagnose 8000 -8000 7600 --norm rms --dtype float16 --given 0,0,0", "diagnose 2 4 4 6 --given four",
    "diagnose 1 2 3 6 --residual 2 4 6 12 --given 3 6 9 18", "diagnose -i x.json --given x.json",
    "explain", "explain epsilon", "explain prenorm --depth 3 --width 8", "explain --shape 2,2,2,3 --axis -1",
    "quiz --no-save --count 6 --seed 1", "quiz progress", "quiz grade answers.csv", "quiz grade answers.csv --pass 60",
    "check my.py:layer_norm", "check --new new.py",
]  # fmt: skip
"""Text for people."""

MACHINE = [
    "compute 2 4 4 6 -f markdown", "compute 2 4 4 6 -f latex", "compute 2 4 4 6 -f csv", "compute 2 4 4 6 --json",
    "diagnose 2 4 4 6 --given 1 2 3 9 --json", "explain epsilon -f markdown", "explain --json",
    "quiz worksheet --seed 7 --count 12",
    "quiz worksheet --pack pack.toml --topic mine --count 1 --seed 7",
    "quiz worksheet --seed 7 -f latex", "quiz worksheet --seed 7 --json",
    "quiz progress --json", "quiz progress --path", "quiz grade answers.csv --json", "quiz export --anki cards.txt",
    "check my.py:layer_norm --case one-row --json",
]  # fmt: skip
"""Formats with lines of their own, and the names of files."""

QUIZ = b"h\nx\n1\ns\n" * 12
"""Answers for a quiz: a hint, one that cannot be read, one that is wrong, and the steps."""

PACK = """
[[item]]
id = "greek"
topic = "mine"
kind = "number"
prompt = "x̂ is (x − μ)/√σ². What is it for x = μ?"
answer = "0"
"""

WRONG = """
def layer_norm(x, gamma, beta, eps):
    return gamma * (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + eps) + beta
"""


def furnish(folder: Path) -> dict[str, str]:
    """Write the files that the runs name into a folder, answer a quiz; the environment that keeps progress there."""
    env = {"LNORM_DATA_DIR": str(folder / "data")}
    (folder / "x.json").write_text("[[1, 2, 3], [3, 2, 7], [5, 8, 2]]", encoding="utf-8")
    rows = "\n".join(",".join(f"{(7 * i + 5 * j * j) % 23 / 8 - 1}" for j in range(9)) for i in range(20))
    (folder / "x.csv").write_text(rows, encoding="utf-8")
    (folder / "my.py").write_text(WRONG, encoding="utf-8")
    (folder / "pack.toml").write_text(PACK, encoding="utf-8")
    sheet = invoke("quiz", "worksheet", "--seed", "7", "--count", "12", env=env).out
    answers = [
        f"{student},{item},{answer}\n"
        for student in ("Ada", "Grace Brewster Murray Hopper")
        for item, answer in zip(re.findall(r"`([\w.:-]+)`", sheet), ["1", "x", "0.5", "-sqrt(2)"] * 3, strict=False)
    ]
    (folder / "answers.csv").write_text("student,item,answer\n" + "".join(answers), encoding="utf-8")
    assert invoke("quiz", "--count", "8", "--seed", "1", stdin=QUIZ, env=env).code == 0
    return env


def words(run: str) -> list[str]:
    """The arguments of a run."""
    return shlex.split(run)


def leaves() -> Iterator[tuple[str, ...]]:
    """The path of every command that can be run, as typer knows them."""
    from lnorm_cli.cli.app import build

    pending = [((), build())]
    while pending:
        path, command = pending.pop()
        yield path
        pending += [((*path, name), each) for name, each in getattr(command, "commands", {}).items()]
