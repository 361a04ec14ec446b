"""A hundred thousand argument lists for `lnorm compute`: none may crash, hang, or end with another code than 0 or 2.

    python tests/long/fuzz_arguments.py [--count 100000] [--seed 1] [--seconds 2] [--workers 2]

Each list runs in this program's own process (workers are forked), with its streams captured and a limit of
processor time, which a busy machine does not use up. What fails is printed at once with the arguments that show
it; the exit code is 1 then.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

NUMBERS = [
    "0", "1", "2", "4", "6", "-1", "-3", "0.1", "-.5", "5.", "1e-5", "1E3", "-1e-3", "1/3", "-1/3", "sqrt(2)",
    "-sqrt(2)", "2sqrt(3)", "√2", "-√5", "pi", "-pi/4", "3(1+2)", "(1+2)*3", "2^10", "2**-3", "\u22122", "1e99",
    "1e-99", "1e400", "-1e-400", "7/3", "1000000007", "0.3333333333333333", "sqrt(1/2)", "2^(1/3)", "abs(-3)", "1²",
    "40000", "65504", "1e30",
]  # fmt: skip
ODD = [
    "", " ", "-", "--", "---", "-e", "-i", "-n", "-s", "-p", "-inf", "nan", "inf", "-nan", "1e", "1e99999", "-1E99999",
    "9^9^9^9", "10.0**10.0**10.0", "2**(1/10**50)", "1/0", "0/0", "sqrt(-1)", "sqrt(", "((", "))", "[", "]", "[1",
    "1]", "[[1,2],[3]]", "[[1,2],[3,4]]", "[[[1]]]", "1,,2", ",", "1,2,", "0,5", "1;2", "x", "gamma", "E", "I",
    "lambda:1", "__import__('os')", "().__class__", "%s%n", "{0}", "[red]", "[/]", "[/red]bold", "\x1b[31m", "\x00",
    "\t", "\n", "é", "日本", "\U0001f600", "\u202e1", "½", "٣", "１", "\udcff", "1\u0302", "a" * 300, "1" * 400,
    "(" * 50 + "1" + ")" * 50, "[" * 20 + "1" + "]" * 20, "--1", "-1-", "-srt(2)", "-sqrt", "-2^0.5", "-(1", "1..2",
    "1e1e1", "0x10", "1_000", "$(ls)", "`ls`", "; ls", "../../x", "con", "@", "@@", "@missing.json", "1:2", "*", "?",
    "~", "\\", "'", '"',
]  # fmt: skip
OPTIONS: dict[str, list[str]] = {
    "--gamma": ["1", "2", "1,2", "1 2", "[1,2,3,4]", "0.5,1,1.5,2", "-1", "@GAMMA", "@X", "0"],
    "--beta": ["0", "1", "-1,2", "1/3", "@GAMMA", "[0,0]"],
    "--eps": ["0", "1e-5", "1", "-1", "nan", "inf", "1/3", "sqrt(2)", "1e-400", "1e-12", "x", ""],
    "--norm": ["layer", "rms", "batch", "Layer", "group", ""],
    "--axis": ["-1", "0", "1", "0,1", "-2", "2", "x", "", "0,0", "-1,-2", "99999999999"],
    "--row": ["all", "0", "-1", "0:2", "5", "x", "1:", "0,0", "9999999999999", "-1:1"],
    "--dtype": ["float64", "float32", "float16", "bfloat16", "float8", ""],
    "--accumulate": ["float64", "float32", "float16", "bfloat16", "int"],
    "--digits": ["1", "6", "17", "0", "18", "x", "-1", "1e3", "99999999999999999999"],
    "--backward": ["1", "1 0 0 0", "1,0", "@X", "-1,1", "x"],
    "-f": ["text", "json", "markdown", "latex", "csv", "yaml", ""],
    "--format": ["text", "json", "markdown", "latex", "csv"],
    "-i": ["X", "MATRIX", "CSV", "NPY", "BAD", "-", "missing.csv", ""],
    "--input": ["X", "CSV", "-", "."],
}
FLAGS = ["--no-exact", "--json", "--ascii", "-h", "--help", "--debug", "--version"]
TYPOS = [
    "--gama",
    "--epss",
    "--nrom",
    "--digit",
    "--js",
    "--e",
    "--",
    "-x",
    "-q",
    "--gamma=",
    "--eps=",
    "--axis=0",
    "--row=0",
    "-fjson",
    "-ijson",
]
FILES = {
    "X": ("x.json", '{"x": [1, 2, 4], "gamma": [1, "1/2", 2], "eps": 0}'),
    "MATRIX": ("m.json", "[[1, 2, 4], [3, 5, 9]]"),
    "CSV": ("x.csv", "a,b\n1,2\n3,4\n"),
    "GAMMA": ("g.txt", "1 2\n"),
    "BAD": ("bad.json", '{"x": [1, NaN]}'),
}


class TooSlow(BaseException):
    """The time limit of one list is over. No handler of `Exception` may take it for an error of the input."""


def argument_list(draw: random.Random, files: dict[str, str]) -> list[str]:
    """One command line: mostly near a sensible one, sometimes pure junk."""
    kind = draw.random()
    pool = NUMBERS if kind < 0.55 else NUMBERS + ODD if kind < 0.9 else ODD
    made = [draw.choice(pool) for _ in range(draw.choice((0, 1, 2, 3, 4, 4, 5, 8)))]
    if draw.random() < 0.05:
        made = [",".join(made)]
    for _ in range(draw.choice((0, 0, 1, 1, 2, 3))):
        if draw.random() < 0.75:
            name = draw.choice(list(OPTIONS))
            value = draw.choice(OPTIONS[name]) if draw.random() < 0.85 else draw.choice(NUMBERS + ODD)
            mark = "@" if value.startswith("@") else ""
            value = mark + files.get(value.removeprefix("@"), value.removeprefix("@"))
            part = [f"{name}={value}"] if draw.random() < 0.3 else [name, *value.split(" ")]
        else:
            part = [draw.choice(FLAGS + TYPOS)]
        place = draw.randint(0, len(made))
        made[place:place] = part
    if made and draw.random() < 0.1:
        victim = draw.randrange(len(made))
        made[victim] = mutated(draw, made[victim])
    return made if draw.random() < 0.02 else ["compute", *made]


def mutated(draw: random.Random, text: str) -> str:
    """The text with a few characters changed, added or taken out."""
    for _ in range(draw.randint(1, 3)):
        place = draw.randint(0, len(text))
        new = draw.choice(["", draw.choice("0123456789.-+*/^()[],e √π=@ "), chr(draw.randrange(32, 0x2FFF))])
        text = text[:place] + new + text[place + draw.randint(0, 1) :]
    return text


def judged(arguments: list[str], seconds: float) -> tuple[str, int, float]:
    """What is wrong with the run ("" for nothing), its exit code and how long it took."""
    from lnorm_cli.cli.edge import run

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    kept = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(b"1 2 3\n"))
    began = time.process_time()
    code, fault = -1, ""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 30 * seconds)  # for what waits and does not work
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(arguments)
    except TooSlow:
        fault = f"more than {seconds} s"
    except BaseException as error:
        fault = f"raised {type(error).__name__}: {error}"
    finally:
        for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
            signal.setitimer(timer, 0)
        sys.stdin = kept
    took = time.process_time() - began
    for stream in (out, err):
        stream.flush()
    printed, said = (stream.buffer.getvalue().decode("utf-8", "replace") for stream in (out, err))
    return fault or told(arguments, code, printed, said), code, took


def told(arguments: list[str], code: int, out: str, err: str) -> str:
    """What is wrong with the exit code and the two streams."""
    if code not in (0, 2):
        return f"exit {code}"
    debug = "--debug" in arguments
    if "Traceback" in out + err and not debug:
        return "traceback"
    if "internal error" in err:
        return err.strip().splitlines()[0]
    if code == 2 and not debug and (out or not err.strip()):
        return "refused, but with output" if out else "refused without a word"
    if code == 0 and not out:
        return "nothing printed"
    if "np.float" in out or "Fraction(" in out:
        return "a type name in the output"
    if code == 0 and out.startswith("{"):
        json.loads(out, parse_constant=lambda name: sys.exit(f"{name} in JSON"))
    return ""


def alarm(signum: int, frame: FrameType | None) -> None:
    raise TooSlow


def work(task: tuple[int, int, int, float, str]) -> tuple[Counter[str], list[tuple[list[str], str]], float]:
    """Run one share of the lists."""
    seed, share, count, seconds, folder = task
    os.chdir(folder)
    for name in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(name, alarm)
    draw = random.Random(f"{seed}/{share}")
    files = {name: file for name, (file, _) in FILES.items()} | {"NPY": "x.npy"}
    tally: Counter[str] = Counter()
    faults: list[tuple[list[str], str]] = []
    slowest = 0.0
    for _ in range(count):
        arguments = argument_list(draw, files)
        fault, code, took = judged(arguments, seconds)
        tally[f"exit {code}"] += 1
        slowest = max(slowest, took)
        if fault:
            faults.append((arguments, fault))
    return tally, faults, slowest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("count", 100_000), ("seed", 1), ("seconds", 2.0), ("workers", os.cpu_count() or 1)):
        parser.add_argument(f"--{name}", type=type(default), default=default)
    asked: Any = parser.parse_args()
    import numpy as np

    import lnorm_cli.compute
    import lnorm_cli.reading  # noqa: F401  (loaded once, before the workers are forked)

    share = 500
    with tempfile.TemporaryDirectory() as folder:
        for file, text in FILES.values():
            (Path(folder) / file).write_text(text, encoding="utf-8")
        np.save(Path(folder) / "x.npy", np.arange(6.0).reshape(2, 3))
        tasks = [(asked.seed, i, share, asked.seconds, folder) for i in range(-(-asked.count // share))]
        began = time.perf_counter()
        tally: Counter[str] = Counter()
        faults, slowest = 0, 0.0
        with multiprocessing.get_context("fork").Pool(asked.workers) as pool:
            for codes, found, longest in pool.imap_unordered(work, tasks):
                tally += codes
                faults += len(found)
                slowest = max(slowest, longest)
                for arguments, fault in found:
                    print(f"FAULT {fault}\n  {arguments!r}", flush=True)
    took = time.perf_counter() - began
    print(f"{sum(tally.values())} argument lists in {took:.0f} s, slowest {slowest:.2f} s of processor time")
    print(", ".join(f"{name}: {number}" for name, number in sorted(tally.items())))
    print(f"{faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
