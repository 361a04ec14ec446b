"""Large arrays cut along any axis: every slice is judged, the wrong ones alone are named, and counted right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lnorm_cli.faults import diagnose
from lnorm_cli.norm import LAYER

SHAPES = [((5003, 131), (-1,)), ((3000, 50), (0,)), ((64, 700, 9), (1,)), ((17, 4, 60, 33), (1, 3))]


def right(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[Any, Any]:
    x = np.random.default_rng(1).normal(2, 3, shape).astype(np.float32)
    long = x.astype(float)
    deviation = long - long.mean(axes, keepdims=True)
    return x, (deviation / np.sqrt(long.var(axes, keepdims=True) + 1e-5)).astype(np.float32)


@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_one_wrong_number_is_found_wherever_it_stands(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    x, y = right(shape, axes)
    spec = replace(LAYER, axes=axes)
    assert diagnose(x, y, spec=spec).verdict == "correct"
    for place in (tuple(0 for _ in shape), tuple(size // 2 for size in shape), tuple(size - 1 for size in shape)):
        wrong = y.copy()
        wrong[place] += 1e-3
        found = diagnose(x, wrong, spec=spec)
        kept = next(axis for axis in range(len(shape)) if axis not in {a % len(shape) for a in axes})
        assert found.faults == ("arithmetic-slip",)
        assert found.evidence[0].startswith(f"1 of {shape[kept]} ")
        assert f"({place[kept]})" in found.evidence[0]


def test_columns_are_called_columns_and_too_many_to_judge_are_counted_in_roundings() -> None:
    x, y = right((3000, 50), (0,))
    y[:, 7] += 1
    assert diagnose(x, y, spec=replace(LAYER, axes=(0,))).evidence[0].startswith("1 of 50 columns")
    x, y = right((9000, 130), (-1,))
    told = diagnose(x, y * np.float32(1.01)).evidence[0]
    assert told.startswith("9000 of 9000 rows differ by more than 32 roundings of float32 (0, 1, ")
