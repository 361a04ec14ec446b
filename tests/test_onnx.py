"""ONNX's own vectors for LayerNormalization and RMSNormalization, through the command line."""

from __future__ import annotations

import json
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import invoke, near

CASES = json.loads((Path(__file__).parent / "data" / "onnx.json").read_text(encoding="utf-8"))["cases"]


def arrays(case: dict[str, Any]) -> dict[str, Any]:
    found = {
        "x": np.array(case["x"], np.float32).reshape(case["shape"]),
        "gamma": np.array(case["scale"], np.float32).reshape(case["scale_shape"]),
    }
    if "bias" in case:
        found["beta"] = np.array(case["bias"], np.float32).reshape(case["scale_shape"])
    return found


def computed(case: dict[str, Any], path: Path, *options: str) -> dict[str, Any]:
    """The document of one vector: ONNX's axis k means the axes from k on, its epsilon is a float32."""
    np.savez(path, **arrays(case))
    rank = len(case["shape"])
    axes = ",".join(map(str, range(case["axis"] % rank, rank)))
    norm = "layer" if case["op"] == "LayerNormalization" else "rms"
    eps = Fraction(float(np.float32(case["epsilon"])))
    done = invoke("compute", "-i", str(path), "--norm", norm, "--axis", axes, "--eps", str(eps), "--json", *options)
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)  # type: ignore[no-any-return]


def outputs(document: dict[str, Any], kind: str) -> list[Any]:
    """The outputs of all rows: the normalized axes are the last ones, so rows follow each other."""
    return [value for row in document["rows"] for value in row["output"][kind]]


def test_there_are_nineteen_vectors_of_each() -> None:
    names = [case["op"] for case in CASES]
    assert (names.count("LayerNormalization"), names.count("RMSNormalization"), len(names)) == (19, 19, 38)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_vector(case: dict[str, Any], tmp_path: Path) -> None:
    document = computed(case, tmp_path / "vector.npz")
    assert document["shape"] == case["shape"]
    rank = len(case["shape"])
    assert len(document["rows"]) == prod(case["shape"][: case["axis"] % rank])
    floats = outputs(document, "float")
    assert len(floats) == len(case["y"])
    assert max(abs(ours - theirs) for ours, theirs in zip(floats, case["y"], strict=True)) <= 2e-6
    for ours, twenty in zip(outputs(document, "exact"), case["exact"]["y"], strict=True):
        assert near(ours, twenty, digits=19), twenty
    for ours, twenty in zip(floats, case["exact"]["y"], strict=True):
        assert abs(ours - float(twenty)) <= 2e-15 * max(1, abs(float(twenty)))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_statistics_of_vector(case: dict[str, Any], tmp_path: Path) -> None:
    document = computed(case, tmp_path / "vector.npz", "--no-exact")
    steps = [{step["name"]: step["float"] for step in row["steps"]} for row in document["rows"]]
    root = "standard_deviation" if case["op"] == "LayerNormalization" else "root_mean_square"
    inverse = case["exact"].get("inv_std_dev") or case["exact"]["inv_rms"]
    assert [1 / step[root] for step in steps] == pytest.approx([float(v) for v in inverse], rel=1e-15)
    if root == "standard_deviation":
        assert [step["mean"] for step in steps] == pytest.approx([float(v) for v in case["exact"]["mean"]], abs=1e-15)
    else:
        assert "mean" not in steps[0]


@pytest.mark.parametrize("case", CASES[::6], ids=[case["name"] for case in CASES[::6]])
def test_float32_side_agrees_with_a_float32_library(case: dict[str, Any], tmp_path: Path) -> None:
    document = computed(case, tmp_path / "vector.npz", "--dtype", "float32", "--no-exact")
    floats = outputs(document, "float")
    assert all(float(np.float32(value)) == value for value in floats)
    assert max(abs(ours - theirs) for ours, theirs in zip(floats, case["y"], strict=True)) <= 2e-6
