"""Exact beside float: the step where the error enters, and why, each case with the report behind it."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from conftest import invoke
from hypothesis import given
from hypothesis import strategies as st

from lnorm_cli import LAYER, RMS, Float, Spec, trace
from lnorm_cli.compare import AMPLIFIED, Precision, compare, largest, smallest_normal


def precision(x: Any, dtype: str, accumulate: str | None = None, spec: Spec = LAYER, eps: str = "1e-5") -> Precision:
    arithmetic = Float(dtype, accumulate)
    exact, floating = trace(x, spec, eps=eps), trace(x, spec, arithmetic, eps=eps)
    truth, shown = ({step.name: step.value[0] for step in steps} for steps in (exact, floating))
    return compare(floating, truth, shown, arithmetic)


ONE_PASS = Spec(spread="one-pass")
CASES: list[tuple[str, str, tuple[Any, ...], str | None, str | None]] = [
    ("facebookresearch/ConvNeXt#80", "600 -600 0 0", ("float16",), "squared_deviation", "overflow"),
    ("its remedy", "600 -600 0 0", ("float16", "float32"), None, None),
    ("first deviation too large", "256 -256", ("float16",), "squared_deviation", "overflow"),
    ("last that fits, its sum does not", "255 -255", ("float16",), "variance", "overflow"),
    ("sum beyond 65504", "40000 40001 40002 40003", ("float16",), "mean", "overflow"),
    ("microsoft/onnxruntime#28463", "40000 40001 40002 40003", ("float32",), None, None),
    ("the same in one pass", "40000 40001 40002 40003", ("float32", None, ONE_PASS), "variance", "cancellation"),
    ("pytorch/pytorch#178123", "1e30 -1e30 2e30 0", ("float32",), "squared_deviation", "overflow"),
    ("the same in float64", "1e30 -1e30 2e30 0", ("float64",), None, None),
    ("microsoft/onnxruntime#29034", "8000 -8000 7600 100", ("float16", None, RMS, "1e-6"), "square", "overflow"),
    ("its remedy", "8000 -8000 7600 100", ("float16", "float32", RMS, "1e-6"), None, None),
    ("pytorch/pytorch#51102", "2000.5 1999.25 2001.125 1998.875", ("float32",), None, None),
    ("x that float32 rounds", "100000000 100000001 100000002", ("float32",), "deviation", "cancellation"),
    ("x that bfloat16 rounds", "1000.1 1000.2 1000.3", ("bfloat16",), "deviation", "cancellation"),
    ("squares below float16", "0.0001 0.0002 0.0003", ("float16",), "squared_deviation", "underflow"),
    ("its remedy", "0.0001 0.0002 0.0003", ("float16", "float32"), None, None),
    ("epsilon below float16", "3 3 3", ("float16", None, LAYER, "1e-9"), "variance_plus_epsilon", "underflow"),
    ("beyond float64", "1e400 1", ("float64",), "x", "overflow"),
    ("below float64", "1e-400 1e-401", ("float64", None, LAYER, "1e-900"), "x", "underflow"),
    ("ordinary", "2 4 4 6", ("float64",), None, None), ("ordinary", "2 4 4 6", ("bfloat16",), None, None),
    ("constant", "0.1 0.1", ("float32",), None, None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("x", "options", "step", "kind"), [c[1:] for c in CASES], ids=[f"{c[0]} {c[2][0]}" for c in CASES]
)
def test_where_the_error_enters(x: str, options: tuple[Any, ...], step: str | None, kind: str | None) -> None:
    found = precision(x.split(), *options)
    assert (found.step, found.kind) == (step, kind)
    if step is None:
        assert found.output < AMPLIFIED * Float(*options[:2]).unit
    else:
        assert not found.errors[step] <= AMPLIFIED * max(Float(*options[:2]).unit, Float(*options[:2]).statistics.unit)


@given(st.lists(st.integers(-100, 100), min_size=2, max_size=6), st.sampled_from(["float64", "float32", "float16"]))
def test_errors_are_what_fractions_say(x: list[int], dtype: str) -> None:
    exact, floating = trace(x), trace(x, LAYER, Float(dtype))
    found = precision(x, dtype)
    for name in ("mean", "deviation", "squared_deviation", "variance"):
        right, ours = exact[name].value[0], floating[name].value[0]
        scale = max(abs(float(v)) for v in right)
        worst = max(abs(float(ours[i]) - float(right[i])) for i in range(len(right)))
        expected = worst / scale if scale else (0.0 if worst == 0 else math.inf)
        assert found.errors[name] == pytest.approx(expected, rel=1e-6, abs=1e-16) or not math.isfinite(float(max(ours)))
    assert list(found.errors) == [step.name for step in exact]


def test_limits_of_the_dtypes() -> None:
    for dtype in ("float64", "float32", "float16"):
        assert largest(dtype) == float(np.finfo(dtype).max)
        assert float(smallest_normal(dtype)) == float(np.finfo(dtype).smallest_normal)
    import ml_dtypes

    assert largest("bfloat16") == float(ml_dtypes.finfo(ml_dtypes.bfloat16).max)
    assert float(smallest_normal("bfloat16")) == float(ml_dtypes.finfo(ml_dtypes.bfloat16).smallest_normal)


def test_the_command_names_step_limit_and_remedy() -> None:
    done = invoke("compute", "600", "-600", "0", "0", "--dtype", "float16")
    text = " ".join(done.out.split())
    for words in ("float16 overflows at the step 'squared deviation'", "360000", "65504", "--accumulate float32"):
        assert words in text
    document = json.loads(invoke("compute", "600", "-600", "0", "0", "--dtype", "float16", "--json").out)
    assert (document["dtype"], document["accumulate"]) == ("float16", "float16")
    row = document["rows"][0]
    assert (row["precision"]["step"], row["precision"]["kind"]) == ("squared_deviation", "overflow")
    assert next(s for s in row["steps"] if s["name"] == "squared_deviation")["float"] == ["inf", "inf", 0.0, 0.0]
    mended = invoke("compute", "600", "-600", "0", "0", "--dtype", "float16", "--accumulate", "float32", "--json")
    assert json.loads(mended.out)["rows"][0]["output"]["float"] == [1.4140625, -1.4140625, 0, 0]  # as torch has it


def test_bfloat16_states_the_order_of_its_roundings() -> None:
    """NVIDIA/TransformerEngine#1132: two legitimate results, by when gamma enters."""
    gamma = "--gamma=1.5,0.70703125,1.296875,0.8984375"
    asked = ("compute", "1", "2", "3", "7", gamma, "--dtype", "bfloat16", "--accumulate", "float32")
    assert json.loads(invoke(*asked, "--json").out)["rows"][0]["output"]["float"] == [
        -1.484375, -0.38671875, -0.142578125, 1.484375,
    ]  # fmt: skip
    assert "the normalized value is rounded before gamma multiplies it" in " ".join(invoke(*asked).out.split())
