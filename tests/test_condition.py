"""How far a right result in floating point may stand: the allowance as documented, and what it lets pass or not."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from lnorm_cli.arithmetic import Float
from lnorm_cli.faults import diagnose
from lnorm_cli.faults.candidates import Candidate, Piece
from lnorm_cli.faults.condition import agrees, allowance
from lnorm_cli.faults.words import separating
from lnorm_cli.norm import LAYER, RMS, Spec, trace

F = Fraction


def documented(x: Any, gamma: float, beta: float, dtype: str, centered: bool, wide: bool) -> tuple[float, float, Any]:
    """Shift, scale and noise of one row by the formulas at the head of `condition`."""
    u, n, half = Float(dtype).unit, len(x), dtype in ("float16", "bfloat16")
    mean = float(np.mean(x)) if centered else 0.0
    s = math.sqrt(np.mean((x - mean) ** 2) + 1e-5)
    reach = np.abs(x) / s
    if half or not wide:
        reach = np.minimum(reach, 4 if half else 64)
    factor = 2 if half else 2 + math.sqrt(n) / 2 if wide else 8 + max(4 * math.sqrt(n), n / 4)
    shift = factor * u * max(reach) if centered else 0.0
    scale = 4 * u if half else (8 + 4 * math.sqrt(n)) * u + 8 * u * min((mean / s) ** 2, 100)
    z = (x - mean) / s
    y = gamma * z + beta
    if half:
        noise = u * (3 * np.abs(gamma * z) + np.abs(y))
    else:
        noise = 2 * u * (np.abs(gamma * z) + np.abs(beta) + np.abs(y)) + 2 * u * abs(gamma) * reach * centered
    return shift, scale + shift**2, noise


ROWS = {
    "short": np.array([1.0, 2, 4, 9]),
    "mean 0": np.array([-2.0, -1, 0, 3]),
    "offset": np.array([1.0, 2, 4, 9]) + 30,
    "far": np.array([1.0, 2, 4, 9]) + 5000,
    "long": np.random.default_rng(2).normal(1, 1, 400),
}


WAYS = [
    *((spec, dtype, False) for spec in (LAYER, RMS) for dtype in ("float64", "float32", "float16", "bfloat16")),
    *((LAYER, dtype, True) for dtype in ("float64", "float32")),
]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize(("spec", "dtype", "wide"), WAYS)
def test_the_allowance_is_that_of_its_formulas(row: str, spec: Spec, dtype: str, wide: bool) -> None:
    x = ROWS[row]
    t = trace(x, spec, Float(), gamma=-1.5, beta=0.25)
    found = allowance(t, Float(dtype).unit, dtype, wide)
    shift, scale, noise = documented(x, -1.5, 0.25, dtype, spec is LAYER, wide)
    assert float(found.shift[0, 0]) == pytest.approx(shift, rel=1e-6)
    assert float(found.scale[0, 0]) == pytest.approx(scale, rel=1e-6)
    tiny = 1e-6 if dtype == "float16" else 1e-30
    assert found.noise[0] == pytest.approx(noise, rel=1e-6, abs=tiny)
    total = noise + 1.5 * (shift + np.abs(t["normalized"].value[0]) * scale)
    assert found.total[0] == pytest.approx(total, rel=1e-6, abs=tiny)


@pytest.mark.parametrize(
    ("dtype", "least"), [("float64", -1074), ("float32", -149), ("float16", -24), ("bfloat16", -133)]
)
def test_below_all_roundings_there_is_the_least_number_of_a_type(dtype: str, least: int) -> None:
    for gamma in (0.0, -3.0):
        t = trace(np.array([0.0, 0.0, 0.0]), LAYER, Float(), gamma=gamma)
        assert allowance(t, Float(dtype).unit, dtype).noise.tolist() == [[2 * (1 + abs(gamma)) * 2.0**least] * 3]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [16, 400])
def test_errors_of_mean_and_divisor_pass_together_and_not_alone(dtype: str, n: int) -> None:
    """All elements may be shifted and scaled by what a sum may err; a single one only by its own roundings."""
    x = np.random.default_rng(n).normal(3, 1, n).astype(dtype)
    t = trace(x, LAYER, Float())
    found = allowance(t, Float(dtype).unit, dtype)
    z, shift, scale = t.output, float(found.shift[0, 0]), float(found.scale[0, 0])

    def right(y: Any) -> bool:
        return bool(agrees(t, y[None], Float(dtype).unit, dtype, np.zeros((1, n)))[0])

    for sign in (1, -1):
        assert right(z + sign * 0.9 * shift)
        assert right(z * (1 + sign * 0.9 * scale))
        assert right(z + sign * 0.9 * shift + sign * 0.9 * scale * z)
        assert not right(z + sign * 1.5 * shift)
        assert not right(z * (1 + sign * 1.5 * scale) + sign * shift)
    single = z.copy()
    single[n // 2] += 0.9 * shift
    assert not right(single)
    single[n // 2] = z[n // 2] + float(found.noise[0, n // 2])
    assert right(single)
    single[0] = np.nan
    assert not right(single)


# ---- an input that tells explanations apart


def candidate(name: str, **changes: Any) -> Candidate:
    eps = changes.pop("eps", F(1, 10**5))
    touched = tuple(changes.items()) or (("eps", eps),)
    return Candidate((Piece(name, touched),), Spec(**changes), eps)


TELLING = [
    ([candidate("unbiased-variance", divisor="n-1")], "x = 1 2 4"),
    ([candidate("epsilon-value", eps=F(1, 1000))], "x = 0.001 0.002 0.005"),  # among larger numbers it does not show
    ([candidate("epsilon-value", eps=F(1000003, 10**11))], ""),
    ([candidate("affine-reversed", affine="reversed")], "x = 1 2 4 with gamma 2 3 0.5 and beta 1 -1 0.25"),
    ([candidate("wrong-axis", axes=(0,))], "x = [[1, 2, 4], [3, 5, 9], [8, 0, 1]]"),
    ([candidate("wrong-axis", axes=(0,)), candidate("all-axes", axes=(0, 1))], "x = [[1, 2, 4], [3, 5, 9], [8, 0, 1]]"),
    ([candidate("twin", divisor="n-1"), candidate("other", divisor="1")], "x = 1 2 4"),
    ([], ""),
]


@pytest.mark.parametrize(("candidates", "told"), TELLING, ids=[str(i) for i in range(len(TELLING))])
def test_a_short_input_on_which_all_differ(candidates: list[Candidate], told: str) -> None:
    assert separating(candidates, LAYER, F(1, 10**5)) == told


def test_one_plus_gamma_explains_a_pair_only_where_gamma_is_not_1() -> None:
    """Doubled numbers would otherwise be half of every explanation."""
    result = diagnose([3, 5, 2, 6], "-1.0954 1.0954 -2.1909 2.1909")
    assert "one-plus-gamma" not in "+".join((*result.faults, *result.alternatives))
    tripled = diagnose([3, 5, 2, 6], "-1.6432 1.6432 -3.2863 3.2863", gamma=2)
    assert set(tripled.faults) == {"unbiased-variance", "one-plus-gamma"}
