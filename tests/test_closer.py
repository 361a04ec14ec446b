"""On long float32 rows epsilon moves the numbers less than rounding may: they are named by what they are nearest to."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import right_answers

from lnorm_cli.faults import diagnose_arrays


def problem(rows: int, n: int, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, (rows, n)).astype(np.float32)
    return x, rng.normal(1, 0.2, n).astype(np.float32), rng.normal(0, 0.3, n).astype(np.float32)


def normalized(x: Any, eps: float, outside: bool = False) -> Any:
    e = np.float32(eps)
    variance = x.var(-1, keepdims=True)
    return (x - x.mean(-1, keepdims=True)) / (np.sqrt(variance) + e if outside else np.sqrt(variance + e))


@pytest.mark.parametrize("rows", [1, 8, 64])
@pytest.mark.parametrize(
    ("eps", "outside", "faults"),
    [
        (1e-5, False, ()),
        (0, False, ("epsilon-omitted",)),
        (1e-12, False, ("epsilon-omitted",)),
        (1e-6, False, ("epsilon-value",)),
        (1e-5, True, ("epsilon-outside-root",)),
    ],
)
def test_epsilon_shows_in_rows_of_768(rows: int, eps: float, outside: bool, faults: tuple[str, ...]) -> None:
    x, gamma, beta = problem(rows, 768)
    found = diagnose_arrays(x, normalized(x, eps, outside) * gamma + beta, gamma=gamma, beta=beta)
    assert found.faults == faults
    assert found.verdict == ("wrong" if faults else "correct")
    assert ("times nearer" in " ".join(found.evidence)) == bool(faults)


def test_where_epsilon_does_nothing_nothing_is_said() -> None:
    x, gamma, beta = problem(4, 768)
    x *= 30  # epsilon then moves the numbers by a tenth of a rounding
    assert diagnose_arrays(x, normalized(x, 0) * gamma + beta, gamma=gamma, beta=beta).verdict == "correct"


def test_long_right_rows_are_never_accused() -> None:
    chance, accused = random.Random(4), []
    for seed in range(150):
        x, gamma, beta = problem(chance.choice((1, 4)), chance.choice((16, 64, 256, 768, 2048)), seed)
        x = (x * np.float32(chance.choice((0.03, 0.3, 3, 20))) + np.float32(chance.choice((0, 0, 1, 30)))).astype("f4")
        eps = chance.choice((1e-5, 1e-6, 1e-12, 1e-3))
        y = right_answers._layer_norm(chance, x, gamma, beta, eps)
        found = diagnose_arrays(x, y, gamma=gamma, beta=beta, eps=eps)
        if found.verdict not in ("correct", "rounded"):
            accused.append((seed, found.faults, found.evidence))
    assert not accused
