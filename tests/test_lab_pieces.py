"""The lab's smaller pieces: a whole block, parameter counts, the figure."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from lnorm_cli import InputError, lab
from lnorm_cli.lab import blocks, plot
from lnorm_cli.lab.layers import Attention, DynamicTanh


def test_block_shapes_and_sizes():
    run = lab.block()
    shapes = {stage.name: stage.shape for stage in run.stages}
    assert shapes == {
        "x": (10, 64), "norm1": (10, 64), "heads": (8, 10, 8), "attention": (10, 64), "sum1": (10, 64),
        "norm2": (10, 64), "hidden": (10, 256), "feed-forward": (10, 64), "y": (10, 64),
    }  # fmt: skip
    sizes = {stage.name: stage.size for stage in run.stages}
    assert sizes["norm1"] == pytest.approx(1, rel=1e-3)
    assert sizes["norm2"] == pytest.approx(1, rel=1e-3)
    assert sizes["x"] < sizes["sum1"] < sizes["y"]
    assert run.split == 8
    assert run.attention.shape == (8, 10, 10)
    np.testing.assert_allclose(run.attention.sum(axis=-1), 1)


def test_block_is_two_residuals_of_norm_and_sublayer():
    random = np.random.Generator(np.random.PCG64(4))
    x = random.standard_normal((5, 16))
    whole = blocks.assembled(blocks.block_layers(random, 16, 24, 2))
    np.testing.assert_array_equal(lab.block(5, 16, 24, 2, seed=4).y, whole.forward(x)[0])


def test_heads_split_the_width():
    """Each head's slice alone, by the textbook formula, side by side."""
    random = np.random.default_rng(1)
    x, (q, k, v) = random.standard_normal((5, 6)), random.standard_normal((3, 6, 6))
    expected = []
    for head in range(3):
        own = slice(2 * head, 2 * head + 2)
        scores = (x @ q[:, own]) @ (x @ k[:, own]).T / np.sqrt(2)
        weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        expected.append(weights @ (x @ v[:, own]))
    output, _ = Attention(3, q, k, v, np.eye(6)).forward(x)
    np.testing.assert_allclose(output, np.hstack(expected))
    with pytest.raises(InputError, match="7 heads do not divide a width of 64"):
        lab.block(heads=7)


def test_softmax_subtracts_the_maximum():
    with np.errstate(over="raise"):
        np.testing.assert_allclose(lab.softmax(np.array([1001.0, 1002, 1003])), [0.09003057, 0.24472847, 0.66524096])


def test_attention_does_not_know_the_order():
    x = np.random.default_rng(2).standard_normal((4, 8))
    order = [2, 0, 3, 1]
    np.testing.assert_allclose(lab.attention(x[order]), lab.attention(x)[order], rtol=1e-12)


def test_dyt():
    np.testing.assert_allclose(lab.dyt([0.0, 2.0], gamma=3, beta=1), [1, 1 + 3 * np.tanh(1)])
    layer = DynamicTanh(np.array([0.5]), np.ones(1), np.zeros(1))
    assert [name for name, _ in layer.parameters()] == ["alpha", "gamma", "beta"]


# Counts


@pytest.mark.parametrize(
    ("arguments", "options", "norms", "total"),
    [
        ((512,), {}, 1, 1024),
        ((512,), {"norm": "rms"}, 1, 512),
        ((512, 6), {}, 30, 30_720),
        ((512, 6), {"final": True}, 32, 32_768),
        ((512, 6), {"norm": "rms"}, 30, 15_360),
        ((768, 12), {"stack": "encoder"}, 24, 36_864),
        ((768, 12), {"stack": "decoder-only", "final": True}, 25, 38_400),
        ((512, 6), {"stack": "decoder"}, 18, 18_432),
    ],
)
def test_parameter_counts(arguments, options, norms, total):
    counts = lab.parameter_counts(*arguments, **options)
    assert (counts.norms, counts.total) == (norms, total)


def test_parameter_counts_refuse():
    with pytest.raises(InputError, match="width is 0"):
        lab.parameter_counts(0)
    with pytest.raises(InputError, match="no stack"):
        lab.parameter_counts(8, 2, stack="tower")


# The figure


def test_figure_refusals(tmp_path, monkeypatch):
    one = lab.compare(["pre"], 2, 8)
    with pytest.raises(InputError, match=r"f\.gif does not end in a known kind of figure"):
        lab.save(one, tmp_path / "f.gif")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match="needs matplotlib") as caught:
        lab.save(one, tmp_path / "f.svg")
    assert "pip install matplotlib" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", sorted(plot.UNDATED))
def test_figure_is_the_same_each_time(tmp_path, suffix):
    pytest.importorskip("matplotlib")
    drawn = lab.compare(["none", "residual", "post", "pre"], 4, 8)
    for name in ("a", "b"):
        lab.save(drawn, tmp_path / (name + suffix))
    first = (tmp_path / ("a" + suffix)).read_bytes()
    assert first == (tmp_path / ("b" + suffix)).read_bytes()
    assert first.startswith({".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}[suffix])
    with pytest.raises(InputError, match="cannot be written"):
        lab.save(drawn, tmp_path / "missing" / ("a" + suffix))
