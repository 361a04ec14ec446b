"""Ratios of lnorm to floors and peers, measured in one interleaved run on the machine at hand.

    python tests/benchmarks/run.py [--repeats 15] [--quick] [--torch PYTHON]

PYTHON is one that has torch and numpy; without it what is set against torch is left out. Times of processes are
medians of processor time and of wall time; a ratio compares neighbours of the same run, so a busy machine moves both.
Nothing here is a test: pytest never times anything.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

FLOOR = "import typer, rich, numpy, sympy\nfrom rich.console import Console\nprint([2.0, 4.0, 4.0, 6.0])\n"
BARE = """\
import typer
app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
@app.command()
def compute(x: list[str], gamma: str = typer.Option("1", help="Scale."), eps: str = typer.Option("1e-5")):
    "Normalize a vector."
@app.command()
def explain(topic: str):
    "Show a topic."
app()
"""
FUNCTIONS = Path(__file__).parent.parent / "functions" / "right"
FLOORS = {
    "floor": "a script importing typer, rich, numpy, sympy",
    "bare": "a bare typer app's --help",
    "numpy": "python -c 'import numpy'",
}
LIMITS = {"lnorm compute 2 4 4 6": "1.15", "lnorm --help": "1.25", "lnorm explain prenorm": "2"}
IMPORTS = ("", "typer", "typer, rich", "numpy", "sympy", "typer, rich, numpy, sympy")


def measured(command: Sequence[str]) -> tuple[float, float]:
    """Processor and wall seconds of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall


def interleaved(commands: dict[str, Sequence[str]], repeats: int) -> dict[str, tuple[float, float]]:
    """Medians of each command, all run in turn `repeats` times after one unmeasured round."""
    samples: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for turn in range(repeats + 1):
        for name, command in commands.items():
            sample = measured(command)
            if turn:
                samples[name].append(sample)
    return {
        name: (statistics.median(c for c, _ in found), statistics.median(w for _, w in found))
        for name, found in samples.items()
    }


def line(name: str, *cells: str) -> None:
    print(f"{name:<58}" + "".join(f"{cell:>12}" for cell in cells), flush=True)


def start_up(repeats: int, folder: Path) -> None:
    """Whole processes against scripts that only import what they need."""
    python = sys.executable
    (folder / "floor.py").write_text(FLOOR)
    (folder / "bare.py").write_text(BARE)
    lnorm = [python, "-m", "lnorm_cli"]
    runs: dict[str, Sequence[str]] = {
        "floor": [python, str(folder / "floor.py")],
        "lnorm compute 2 4 4 6": [*lnorm, "compute", "2", "4", "4", "6"],
        "lnorm compute 2 4 4 6 --json": [*lnorm, "compute", "2", "4", "4", "6", "--json"],
        "lnorm compute 2 4 4 6 --no-exact": [*lnorm, "compute", "2", "4", "4", "6", "--no-exact"],
        "bare": [python, str(folder / "bare.py"), "--help"],
        "lnorm --help": [*lnorm, "--help"],
        "lnorm --version": [*lnorm, "--version"],
        "lnorm explain": [*lnorm, "explain"],
        "lnorm compute --help": [*lnorm, "compute", "--help"],
        "numpy": [python, "-c", "import numpy"],
        "lnorm explain prenorm": [*lnorm, "explain", "prenorm"],
        "lnorm check, all cases of a right function": [
            *lnorm,
            "check",
            f"{FUNCTIONS / 'numpy_two_pass.py'}:layer_norm",
        ],
    }
    found = interleaved(runs, repeats)
    line("process, its ratio to the floor above it", "cpu ms", "wall ms", "cpu ratio", "wall ratio", "limit")
    base = found["floor"]
    for name, (cpu, wall) in found.items():
        base = found[name] if name in FLOORS else base
        label = FLOORS.get(name, name)
        limit = LIMITS.get(name, "")
        line(label, f"{cpu * 1e3:.0f}", f"{wall * 1e3:.0f}", f"{cpu / base[0]:.2f}", f"{wall / base[1]:.2f}", limit)
    print()
    floors = interleaved({f"import {names}" if names else "python -c pass": [
        python, "-c", f"import {names}" if names else "pass"] for names in IMPORTS}, max(3, repeats // 3))  # fmt: skip
    line("import floor", "cpu ms", "wall ms")
    for name, (cpu, wall) in floors.items():
        line(name, f"{cpu * 1e3:.0f}", f"{wall * 1e3:.0f}")
    print()


def timed(function: Callable[[], Any], repeats: int = 1) -> float:
    """Least processor seconds of a call, sympy's memory of earlier ones cleared."""
    from sympy.core.cache import clear_cache

    best = math.inf
    for _ in range(repeats):
        clear_cache()
        began = time.process_time()
        function()
        best = min(best, time.process_time() - began)
    return best


def four_decimals(n: int) -> list[Fraction]:
    draw = random.Random(n)
    return [Fraction(draw.randrange(-99_999, 99_999), 10_000) for _ in range(n)]


def naive(x: list[Fraction], *, simplify: bool) -> list[Any]:
    """LayerNorm as one writes it in sympy."""
    import sympy

    values = [sympy.Rational(v.numerator, v.denominator) for v in x]
    mean = sympy.Add(*values) / len(values)
    variance = sympy.Add(*((v - mean) ** 2 for v in values)) / len(values)
    root = sympy.sqrt(variance + sympy.Rational(1, 100_000))
    output = [(v - mean) / root for v in values]
    return [sympy.simplify(v) for v in output] if simplify else output


def exact_side(quick: bool) -> None:
    """The exact trace by width, beside naive sympy, with the exponent by which it grows."""
    from lnorm_cli import trace

    trace([1, 2])
    naive([Fraction(1), Fraction(2)], simplify=True)
    line("exact, n four-decimal values", "lnorm s", "us/element", "sympy s", "simplify s", "growth")
    before: tuple[int, float] | None = None
    for n in (64, 256, 1024, 4096) if quick else (64, 256, 1024, 4096, 16384):
        x = four_decimals(n)
        ours = timed(lambda x=x: trace(x), 3 if n < 5000 else 1)  # type: ignore[misc]
        raw = timed(lambda x=x: naive(x, simplify=False)) if n <= 4096 else math.nan  # type: ignore[misc]
        full = timed(lambda x=x: naive(x, simplify=True)) if n <= 64 else math.nan  # type: ignore[misc]
        growth = math.log(ours / before[1]) / math.log(n / before[0]) if before else math.nan
        before = n, ours
        cells = [f"{value:.3f}" if value == value else "" for value in (ours, raw, full, growth)]
        line(f"n = {n}", cells[0], f"{ours / n * 1e6:.0f}", *cells[1:])
    print()


def others(torch: str) -> None:
    """The scripts beside this one, which say what they measure."""
    here = Path(__file__).parent
    subprocess.run([sys.executable, here / "diagnose.py", *(["--torch", torch] if torch else [])], check=True)
    print()
    if torch:
        paths = os.pathsep.join([str(here.parent.parent), os.environ.get("PYTHONPATH", "")])
        command = [torch, here / "lab_against_torch.py", "48", "128"]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": paths})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="fewer widths and repeats")
    parser.add_argument("--torch", default="", help="a Python that has torch and numpy")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        start_up(5 if asked.quick else asked.repeats, Path(folder))
    exact_side(asked.quick)
    sys.stdout.flush()
    others(asked.torch)


if __name__ == "__main__":
    main()
