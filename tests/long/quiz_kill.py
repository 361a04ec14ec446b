"""Quizzes stopped by SIGKILL and SIGINT at random moments, and eight at once on one file: no answer is lost.

    python tests/long/quiz_kill.py [KILLS] [SEED]

Every quiz is the real command, answered through a pipe. An answer counts as acknowledged once "Right." has come
back. Exit code 1 when one is missing afterwards, or when the file is not sound.
"""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

ITEMS = 30
ITEM = """
[[item]]
id = "any{number}"
topic = "mine"
kind = "number"
prompt = "Any number will do."
answer = "0"
precision = "within 1000000000"
"""


def start(directory: Path, answers: list[str]) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-m", "lnorm_cli", "quiz", "--pack", "any.toml", "--topic", "mine", "--count", str(ITEMS)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=directory,
        env={**os.environ, "LNORM_DATA_DIR": str(directory / "data")},
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write("".join(f"{answer}\n" for answer in answers).encode())
    process.stdin.close()
    return process


def acknowledged(output: bytes, answers: list[str]) -> list[str]:
    return answers[: output.count(b"Right.")]


def saved(directory: Path) -> set[str]:
    file = directory / "data" / "progress.db"
    if not file.exists():
        return set()
    connection = sqlite3.connect(file)
    found = {row[0] for row in connection.execute("SELECT answer FROM answers")}
    assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    connection.close()
    return found


def stop_many(directory: Path, count: int, stop: signal.Signals, chance: random.Random) -> bool:
    """Stop quizzes one after the other at random moments; how long a whole one takes is measured first."""
    begun = time.monotonic()
    start(directory, ["0"] * ITEMS).wait()
    whole = time.monotonic() - begun
    expected: set[str] = set()
    cut = troubled = 0
    codes: Counter[int] = Counter()
    for number in range(1, count + 1):
        answers = [str(1000 * number + i) for i in range(ITEMS)]
        process = start(directory, answers)
        time.sleep(chance.uniform(0.3, 1.0) * whole)
        process.send_signal(stop)
        assert process.stdout is not None
        assert process.stderr is not None
        output, errors = process.stdout.read(), process.stderr.read()
        codes[process.wait()] += 1
        process.stdout.close()
        process.stderr.close()
        mine = acknowledged(output, answers)
        expected.update(mine)
        cut += 0 < len(mine) < ITEMS
        troubled += bool(errors)
    missing = expected - saved(directory)
    set_aside = len(list((directory / "data").glob("progress.damaged*")))
    print(f"{count} times {stop.name} (exit codes {dict(codes)}), {cut} between two answers: "
          f"{len(expected)} answers acknowledged, "
          f"{len(missing)} missing, {troubled} quizzes complained, {set_aside} files set aside")  # fmt: skip
    allowed = {0, -stop} | ({130} if stop == signal.SIGINT else set())  # -2: while the interpreter ends
    return not missing and not troubled and not set_aside and set(codes) <= allowed


def eight_at_once(directory: Path) -> bool:
    """Eight quizzes on one file that does not exist yet."""
    answers = [[str(10**6 * (i + 1) + n) for n in range(ITEMS)] for i in range(8)]
    running = [start(directory, own) for own in answers]
    complaints = 0
    expected: set[str] = set()
    for process, own in zip(running, answers, strict=True):
        assert process.stdout is not None
        assert process.stderr is not None
        expected.update(acknowledged(process.stdout.read(), own))
        complaints += bool(process.stderr.read())
        process.wait()
        process.stdout.close()
        process.stderr.close()
    missing = expected - saved(directory)
    print(f"8 quizzes at once: {len(expected)} answers acknowledged, {len(missing)} missing, {complaints} complained")
    return len(expected) == 8 * ITEMS and not missing and not complaints


def main() -> int:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    good = []
    chance = random.Random(seed)
    runs: list[Callable[[Path], bool]] = [
        eight_at_once,
        partial(stop_many, count=kills, stop=signal.SIGKILL, chance=chance),
        partial(stop_many, count=kills // 4, stop=signal.SIGINT, chance=chance),
    ]
    for run in runs:
        with tempfile.TemporaryDirectory() as name:
            directory = Path(name)
            pack = "".join(ITEM.format(number=n) for n in range(ITEMS))
            (directory / "any.toml").write_text(pack, encoding="utf-8")
            good.append(run(directory))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
