"""Mistakes of floating point: each arithmetic that loses digits is named from what it gives, and nothing else is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lnorm_cli.faults import diagnose, diagnose_arrays
from lnorm_cli.faults.precision import Ordered
from lnorm_cli.norm import LAYER, RMS, Spec, trace

ONE_PASS = Spec(spread="one-pass")


def sample(mean: float, rows: int = 6, n: int = 50, dtype: str = "float32") -> Any:
    return np.random.default_rng(5).normal(mean, 1, (rows, n)).astype(dtype)


@pytest.mark.parametrize("asked", [LAYER, RMS])
@pytest.mark.parametrize("short", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    ("order", "words"), [("as numpy", "sums as numpy does them"), ("in 8 lanes", "sums in 8 lanes")]
)
def test_statistics_in_a_short_type(asked: Spec, short: str, order: str, words: str) -> None:
    x = sample(3)
    y = trace(x, asked, Ordered("float32", short, order)).output
    result = diagnose_arrays(x, y, spec=asked)
    assert result.faults == ("low-precision-statistics",)
    assert result.evidence == (f"Statistics in {short} ({words}) give exactly these numbers.",)


def test_statistics_in_float32_of_float64_numbers() -> None:
    x = sample(300, 3, 64, "float64")
    y = trace(x, LAYER, Ordered("float64", "float32", "as numpy")).output
    result = diagnose_arrays(x, y)
    assert result.faults == ("low-precision-statistics",)
    assert "in float32" in result.evidence[0]


@pytest.mark.parametrize(("dtype", "mean"), [("float32", 300), ("float64", 3e6)])
@pytest.mark.parametrize("order", ["as numpy", "in 4 lanes", "right to left"])
def test_the_one_pass_variance_bit_by_bit(dtype: str, mean: float, order: str) -> None:
    x = sample(mean, 5, 64, dtype)
    steps = trace(x, ONE_PASS, Ordered(dtype, dtype, order))
    result = diagnose_arrays(x, steps.output)
    assert (result.faults, result.first_step) == (("one-pass-variance",), "variance")
    smallest = f"{float(steps['variance'].value.min()):.6g}"
    assert result.evidence[0].endswith(f"its smallest variance is {smallest}.")
    assert f"in {dtype}" in result.evidence[0]


def test_a_step_that_overflows_is_named_with_the_largest_number() -> None:
    result = diagnose_arrays(np.array([[300, -700, 200, 900.0]], np.float16), np.zeros((1, 4), np.float16))
    assert (result.faults, result.first_step) == (("overflow",), "squared_deviation")
    assert result.evidence == ("In float16 the step squared_deviation exceeds 65504 and becomes inf.",)
    x = np.array([[3e20, -1e20, 2e20, 0.0]], np.float32)
    result = diagnose_arrays(x, trace(x, LAYER, Ordered("float32", "float32", "as numpy")).output)
    assert result.faults == ("overflow",)
    assert "exceeds 3.403e38" in result.evidence[0]


def test_zeros_for_tiny_numbers_are_no_evidence_of_a_short_type() -> None:
    assert diagnose_arrays(np.array([1, 2, 3], np.float32), np.zeros(3, np.float32), gamma=1e-9).faults == ()


def with_variance(x: Any, factor: Any) -> Any:
    variance = x.astype(float).var(-1, keepdims=True) * factor
    return ((x - x.astype(float).mean(-1, keepdims=True)) / np.sqrt(variance + 1e-5)).astype(np.float32)


def test_an_unknown_order_of_a_one_pass_variance_is_known_by_its_size() -> None:
    """Twice the digits of the mean square are lost, and no order of summing gives just these bits."""
    x = sample(300, 5, 64)
    result = diagnose_arrays(x, with_variance(x, 1 + 3e-3 * np.array([[1], [-2], [1.5], [-1], [0.5]])))
    assert result.faults == ("one-pass-variance",)
    assert "than mean(x^2) - mean(x)^2 loses in float32" in result.evidence[0]
    far = diagnose_arrays(x, with_variance(x, 1 + 3 * np.array([[1], [2], [1.5], [1], [0.5]])))
    assert "one-pass-variance" not in far.faults


def test_variances_off_to_both_sides_where_no_one_pass_formula_could_be() -> None:
    x = sample(0.2, 5, 64)
    both = diagnose_arrays(x, with_variance(x, 1 + 3e-3 * np.array([[1], [-2], [1.5], [-1], [0.5]])))
    assert both.faults == ("low-precision-statistics",)
    assert "off to both sides from row to row" in both.evidence[0]
    one_side = diagnose_arrays(x, with_variance(x, 1 + 3e-3 * np.array([[1], [2], [1.5], [1], [0.5]])))
    assert "low-precision-statistics" not in one_side.faults
    few = diagnose_arrays(x[:3], with_variance(x[:3], 1 + 3e-3 * np.array([[1], [-2], [1.5]])))
    assert "low-precision-statistics" not in few.faults


def test_pasted_numbers_of_a_one_pass_variance() -> None:
    x = np.array([[3000, 3001, 2999, 3002.5, 3000.5]], np.float32)
    y = trace(x, ONE_PASS, Ordered("float32", "float32", "left to right")).output[0]
    result = diagnose(["3000", "3001", "2999", "3002.5", "3000.5"], " ".join(map(str, y)))
    assert result.faults == ("one-pass-variance",)
