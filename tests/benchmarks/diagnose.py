"""How long a diagnosis takes, and how much memory a large one needs.

    python tests/benchmarks/diagnose.py [--rows 100000] [--torch PYTHON]

Prints milliseconds for 8 numbers against all single mistakes and pairs, and the time and peak memory of a float32 pair
of rows x 768 through the command, beside torch.nn.functional.layer_norm where PYTHON has torch.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

from lnorm_cli.faults import diagnose
from lnorm_cli.faults.answer import make_answer
from lnorm_cli.faults.problem import make_problem
from lnorm_cli.faults.search import levels
from lnorm_cli.norm import LAYER

TORCH = """
import sys, time, numpy, torch
x, gamma, beta = (torch.from_numpy(numpy.load(path)) for path in sys.argv[1:])
times = []
for _ in range(7):
    start = time.perf_counter()
    torch.nn.functional.layer_norm(x, (x.shape[-1],), gamma, beta, 1e-5)
    times.append(time.perf_counter() - start)
print(min(times))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--torch", default="")
    arguments = parser.parse_args()
    eight_numbers()
    large(arguments.rows, arguments.torch)


def eight_numbers() -> None:
    x = [1, 5, 2, 7, 3, 8, 4, 13]
    gamma, beta = (
        ["0.5", "1.5", "2", "1.2", "0.8", "1.1", "0.7", "0.9"],
        ["1", "-1", "0.5", "0.2", "0.1", "0.3", "2", "0"],
    )
    answers = {
        "no known mistake": "1.1 2.2 3.3 -4.4 5.5 6.6 -7.7 8.8",
        "n - 1": given(x, gamma, beta, 1, 0.5),
        "n - 1 and no root": given(x, gamma, beta, 1, 1.0),
    }
    diagnose(x, answers["n - 1"], gamma=gamma, beta=beta)
    arrays = [np.array([Fraction(v) for v in values], dtype=object) for values in (x, gamma, beta)]
    times = []
    for _ in range(9):
        problem = make_problem(
            arrays[0], make_answer(answers["no known mistake"], None), arrays[1], arrays[2], Fraction(1, 10**5), LAYER
        )
        start = time.perf_counter()
        list(levels(problem, 2))
        times.append(time.perf_counter() - start)
    print(f"8 numbers against all single mistakes and pairs: {1000 * min(times):.0f} ms")
    for name, answer in answers.items():
        times = []
        for _ in range(5):
            start = time.perf_counter()
            diagnose(x, answer, gamma=gamma, beta=beta)
            times.append(time.perf_counter() - start)
        print(f"whole diagnosis of 8 numbers, {name}: {1000 * min(times):.0f} ms")


def given(x: list[int], gamma: list[str], beta: list[str], ddof: int, power: float) -> str:
    v, g, b = (np.array(values, float) for values in (x, gamma, beta))
    return " ".join(f"{value:.4f}" for value in (v - v.mean()) / (v.var(ddof=ddof) + 1e-5) ** power * g + b)


def large(rows: int, torch: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.npy" for name in ("x", "y", "gamma", "beta", "unbiased")]
        rng = np.random.default_rng(0)
        x = rng.standard_normal((rows, 768), dtype=np.float32)
        gamma, beta = rng.normal(1, 0.3, 768).astype(np.float32), rng.normal(0, 0.5, 768).astype(np.float32)
        for path, ddof in ((paths[1], 0), (paths[4], 1)):
            y = np.empty_like(x)
            for i in range(0, rows, 1000):
                part = x[i : i + 1000]
                root = np.sqrt(part.var(-1, ddof=ddof, keepdims=True) + np.float32(1e-5))
                y[i : i + 1000] = (part - part.mean(-1, keepdims=True)) / root * gamma + beta
            np.save(path, y)
        for path, array in zip((paths[0], *paths[2:4]), (x, gamma, beta), strict=True):
            np.save(path, array)
        size = paths[0].stat().st_size / 2**20
        del x, y
        if torch:
            command = [torch, "-c", TORCH, *map(str, (paths[0], *paths[2:4]))]
            print(f"torch layer_norm on {rows} x 768: {float(subprocess.check_output(command)):.2f} s")
        for path in (paths[1], paths[4]):
            report(paths, path, size)


def report(paths: list[Path], path: Path, size: float) -> None:
    code = (
        "import sys, time\n"
        "import numpy as np\n"
        "from lnorm_cli.faults import diagnose\n"
        "from lnorm_cli.reading import read_arrays\n"
        "import lnorm_cli.faults.stream, sympy\n"
        "start = time.perf_counter()\n"
        "x, y = (read_arrays(p, finite=p == sys.argv[1]).x for p in sys.argv[1:3])\n"
        "read = time.perf_counter() - start\n"
        "times = []\n"
        "for _ in range(5):\n"
        "    start = time.perf_counter()\n"
        "    result = diagnose(x, y, gamma=np.load(sys.argv[3]), beta=np.load(sys.argv[4]))\n"
        "    times.append(time.perf_counter() - start)\n"
        "peak = next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmHWM')) // 1024\n"
        "print(result.verdict, *result.faults, f'{read:.2f} s to read and check, {min(times):.2f} s to judge')\n"
        "print(f'  peak {peak} MB')\n"
    )
    command = [sys.executable, "-c", code, *map(str, (paths[0], path, *paths[2:4]))]
    print(f"{path.stem} ({size:.0f} MB each): " + subprocess.check_output(command, text=True).strip())


if __name__ == "__main__":
    main()
