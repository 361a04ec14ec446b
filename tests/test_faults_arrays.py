"""The diagnosis of arrays: wrong axes and elements, faults of precision, placement in a block, large arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lnorm_cli.faults import diagnose, diagnose_arrays
from lnorm_cli.norm import BATCH

# ---- axes


def float_case(shape: tuple[int, ...], dtype: str = "float64") -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(11)
    return (
        rng.normal(1, 2, shape).astype(dtype),
        rng.normal(1, 0.3, shape[-1]).astype(dtype),
        rng.normal(0, 0.5, shape[-1]).astype(dtype),
    )


@pytest.mark.parametrize(
    ("axes", "name"), [((0,), "wrong-axis"), ((1,), "wrong-axis"), ((1, 2), "all-axes"), ((0, 1, 2), "all-axes")]
)
def test_statistics_over_other_axes(axes: tuple[int, ...], name: str) -> None:
    x, gamma, beta = float_case((2, 3, 4), "float32")
    y = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + np.float32(1e-5)) * gamma + beta
    result = diagnose_arrays(x, y, gamma=gamma, beta=beta)
    assert (result.verdict, result.faults) == ("wrong", (name,))
    assert ", ".join(map(str, axes)) in result.evidence[0]


def test_statistics_of_the_wrong_elements() -> None:
    x, gamma, beta = float_case((4, 6))
    rows = x.shape[0]

    def output(mean: Any, variance: Any) -> Any:
        return (x - mean) / np.sqrt(variance + 1e-5) * gamma + beta

    padded = np.concatenate([x, np.zeros((rows, 2))], axis=1)
    beside = np.concatenate([x, np.concatenate([x[1:, :1], np.zeros((1, 1))])], axis=1)
    for pool, name in ((padded, "padding-counted"), (x[:, :-1], "features-dropped"), (beside, "neighbour-counted")):
        y = output(pool.mean(-1, keepdims=True), pool.var(-1, keepdims=True))
        result = diagnose_arrays(x, y, gamma=gamma, beta=beta)
        assert (result.verdict, result.faults) == ("wrong", (name,))


def test_only_the_wrong_rows_are_explained() -> None:
    x, gamma, beta = float_case((5, 6))
    y = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * gamma + beta
    y[3] = (x[3] - x[3].mean()) / np.sqrt(x[3].var(ddof=1) + 1e-5) * gamma + beta
    result = diagnose_arrays(x, y, gamma=gamma, beta=beta)
    assert result.faults == ("unbiased-variance",)
    assert "1 of 5 rows: (3,)" in result.evidence[0]


# ---- precision


def test_overflow_in_half_precision_and_low_precision_statistics() -> None:
    x = np.array([[300, -700, 200, 900.0]], np.float16)
    with np.errstate(over="ignore"):
        assert np.isinf((x - x.mean()) ** 2).any()
    assert diagnose_arrays(x, np.zeros_like(x)).faults == ("overflow",)
    rng = np.random.default_rng(5)
    x = rng.normal(3, 1, (6, 512)).astype(np.float32)
    short = x.astype(np.float16)
    total = np.add.accumulate(short, axis=-1)[:, -1:]
    mean = (total / np.float16(512)).astype(np.float32)
    y = (x - mean) / np.sqrt(x.var(-1, keepdims=True) + np.float32(1e-5))
    result = diagnose_arrays(x, y)
    assert result.verdict == "wrong"


def test_one_pass_variance_in_several_orders() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(300, 1, (5, 64)).astype(np.float32)
    n = np.float32(64)
    for total in (
        lambda a: a.sum(-1, keepdims=True),
        lambda a: np.add.accumulate(a, axis=-1)[:, -1:],
        lambda a: a.reshape(5, 8, 8).sum(-1).sum(-1, keepdims=True),
    ):
        mean = total(x) / n
        variance = np.maximum(total(x * x) / n - mean * mean, np.float32(0))
        y = (x - mean) / np.sqrt(variance + np.float32(1e-5))
        assert diagnose_arrays(x, y).faults == ("one-pass-variance",)


# ---- placement


@pytest.mark.parametrize(
    ("order", "formula", "verdict", "faults"),
    [
        ("post", "norm(x + f)", "correct", ()),
        ("post", "x + f", "wrong", ("pre-for-post",)),
        ("post", "norm(f)", "wrong", ("residual-omitted",)),
        ("post", "norm(x) + f", "wrong", ("residual-of-normalized",)),
        ("post", "x + norm(f)", "wrong", ("branch-normalized",)),
        ("post", "x + norm(x + f)", "wrong", ("residual-twice",)),
        ("pre", "x + f", "correct", ()),
        ("pre", "norm(x + f)", "wrong", ("post-for-pre",)),
        ("pre", "f", "wrong", ("residual-omitted",)),
        ("pre", "norm(x) + f", "wrong", ("residual-of-normalized",)),
        ("final", "norm(x + f)", "correct", ()),
        ("final", "x + f", "wrong", ("final-norm-omitted",)),
        ("post", "unbiased(x + f)", "wrong", ("unbiased-variance",)),
        ("post", "unbiased(x) + f", "wrong", ("residual-of-normalized", "unbiased-variance")),
        ("post", "3 * x", "wrong", ()),
    ],
)
@pytest.mark.parametrize("typed", [True, False])
def test_placement(order: str, formula: str, verdict: str, faults: tuple[str, ...], typed: bool) -> None:
    x, f = np.array([1.0, 2.0, 3.5, 6.0, -1.0]), np.array([0.5, -1.5, 2.0, 0.25, 1.75])
    gamma, beta = np.array([1.0, 0.5, 2.0, 1.5, 0.75]), np.array([0.5, 0.25, -1.0, 0.0, 2.0])

    def norm(v: Any, ddof: int = 0) -> Any:
        return (v - v.mean()) / np.sqrt(v.var(ddof=ddof) + 1e-5) * gamma + beta

    y = eval(formula, {"norm": norm, "unbiased": lambda v: norm(v, 1), "x": x, "f": f})
    given = " ".join(f"{v:.6f}" for v in y) if typed else y
    result = diagnose(x, given, gamma=gamma, beta=beta, residual=f, order=order)
    assert (result.verdict, result.faults) == (verdict, faults)


# ---- large arrays


@pytest.fixture(scope="module")
def large() -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(8)
    x = rng.normal(0.5, 1, (1500, 256)).astype(np.float32)
    gamma, beta = rng.normal(1, 0.3, 256).astype(np.float32), rng.normal(0, 0.4, 256).astype(np.float32)
    y = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + np.float32(1e-5)) * gamma + beta
    return x, gamma, beta, y


def test_large_arrays_are_judged_as_small_ones_are(large: tuple[Any, Any, Any, Any], tmp_path: Path) -> None:
    x, gamma, beta, y = large
    assert diagnose_arrays(x, y, gamma=gamma, beta=beta).verdict == "correct"

    def of(axis: Any, ddof: int = 0) -> Any:
        variance = x.var(axis, keepdims=True, ddof=ddof, dtype=np.float64)
        mean = x.mean(axis, keepdims=True, dtype=np.float64)
        return ((x - mean) / np.sqrt(variance + 1e-5) * gamma + beta).astype(np.float32)

    for wrong, name in ((of(-1, 1), "unbiased-variance"), (of(0), "wrong-axis"), (of((0, 1)), "all-axes")):
        np.save(tmp_path / "y.npy", wrong)
        mapped = np.load(tmp_path / "y.npy", mmap_mode="r")
        assert diagnose_arrays(x, mapped, gamma=gamma, beta=beta).faults == (name,)


def test_single_wrong_rows_of_a_large_array_are_found(large: tuple[Any, Any, Any, Any]) -> None:
    x, gamma, beta, y = large
    broken = y.copy()
    broken[77] = np.nan
    broken[1400, 3] += 0.01
    result = diagnose_arrays(x, broken, gamma=gamma, beta=beta)
    assert result.verdict == "wrong"
    assert "2 of 1500 rows" in result.evidence[0]
    assert "77, 1400" in result.evidence[0]


def test_a_large_square_array_and_pairs_of_mistakes() -> None:
    rng = np.random.default_rng(9)
    x = rng.normal(0.5, 1, (200, 200))
    gamma, beta = rng.normal(1, 0.3, 200), rng.normal(0, 0.4, 200)
    mean, variance = x.mean(-1), x.var(-1)
    y = (x - mean) / np.sqrt(variance + 1e-5) * gamma + beta
    assert diagnose_arrays(x, y, gamma=gamma, beta=beta).faults == ("missing-keepdims",)
    mean, variance = mean[:, None], x.var(-1, ddof=1, keepdims=True)
    y = ((x - mean) / (np.sqrt(variance) + 1e-5) + beta) * gamma
    found = diagnose_arrays(x, y, gamma=gamma, beta=beta)
    assert set(found.faults) == {"unbiased-variance", "epsilon-outside-root", "beta-before-gamma"}


def test_a_large_square_array_is_not_thought_to_lack_keepdims_unless_it_does() -> None:
    x = np.random.default_rng(9).normal(0.5, 1, (200, 200))
    down = (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5)
    assert diagnose_arrays(x, down).faults == ("wrong-axis",)
    across = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    assert "missing-keepdims" not in diagnose_arrays(x, 1.3 * across + 0.2).faults


def test_large_batch_norm_and_channels(large: tuple[Any, Any, Any, Any]) -> None:
    x, gamma, beta, _ = large
    y = (x - x.mean(0)) / np.sqrt(x.var(0) + np.float32(1e-5)) * gamma + beta
    assert diagnose_arrays(x, y, gamma=gamma, beta=beta, spec=BATCH).verdict == "correct"
    assert diagnose_arrays(x, y * np.float32(1.001), gamma=gamma, beta=beta, spec=BATCH).verdict == "wrong"
