"""The placement lab: gradients against finite differences, the papers' scalings, determinism, refusals."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from lnorm_cli import Float, InputError, lab, trace
from lnorm_cli.lab import blocks, runs
from lnorm_cli.lab.layers import Chain, Linear, Norm
from lnorm_cli.lab.stacks import build, find_kind

ALL_KINDS = [*lab.KINDS, "post-rms", "pre-rms", "pre-no-final-rms", "sandwich-rms", "deepnorm-rms"]


def finite_differences(loss, array, step=1e-5):
    """The gradient of `loss()` with respect to `array`, changed in place, by central differences."""
    gradient = np.empty_like(array)
    for index in np.ndindex(array.shape):
        kept = array[index]
        array[index] = kept + step
        above = loss()
        array[index] = kept - step
        below = loss()
        array[index] = kept
        gradient[index] = (above - below) / (2 * step)
    return gradient


def assert_gradients_agree(layer, x, upstream):
    """Input and every parameter: relative difference (in length) of at most 1e-6."""

    def loss():
        return float((layer.forward(x)[0] * upstream).sum())

    dx, gradients = layer.backward(layer.forward(x)[1], upstream)
    parameters = layer.parameters()
    assert [name for name, _ in gradients] == [name for name, _ in parameters]
    for (name, array), found in zip([("x", x), *parameters], [dx, *(g for _, g in gradients)], strict=True):
        expected = finite_differences(loss, array)
        assert found.shape == array.shape, name
        assert np.linalg.norm(found - expected) <= 1e-6 * max(np.linalg.norm(expected), 1e-3), name
        assert np.linalg.norm(expected) > 0, name


def stack_of(kind, sublayer, depth, width=6, tokens=3, seed=3):
    """A small stack whose gammas and betas are not all alike, with its draw."""
    drawn = runs.draw(width, seed, sublayer, tokens)
    stack = build(
        find_kind(kind), [{n: w.copy() for n, w in own.items()} for own in drawn.matrices(depth)], sublayer, heads=2
    )
    random = np.random.default_rng(seed)
    for name, array in stack.parameters():
        if name in ("gamma", "beta"):
            array += 0.3 * random.standard_normal(array.shape)
    return Chain(stack.layers), drawn.x.copy(), drawn.upstream.copy()


@pytest.mark.parametrize("sublayer", lab.SUBLAYERS)
@pytest.mark.parametrize("kind", ALL_KINDS)
def test_gradients_agree_with_finite_differences(kind, sublayer):
    assert_gradients_agree(*stack_of(kind, sublayer, depth=2))


def test_block_gradients_agree_with_finite_differences():
    random = np.random.default_rng(5)
    layer = blocks.assembled(blocks.block_layers(random, width=8, hidden=12, heads=4))
    assert_gradients_agree(layer, random.standard_normal((3, 8)), random.standard_normal((3, 8)))


def test_a_wrong_backward_pass_would_be_seen(monkeypatch):
    monkeypatch.setattr(Linear, "backward", lambda self, x, dy: (dy @ self.weight, [(self.name, x.T @ dy)]))
    with pytest.raises(AssertionError):
        assert_gradients_agree(*stack_of("pre", "ffn", depth=2))


def test_run_measures_what_the_layers_give():
    """Each number of a Run, computed once more from the layers themselves."""
    run = lab.run("post", 3, 8, 7, tokens=4)
    drawn = runs.draw(8, 7, "ffn", 4)
    stack = build(find_kind("post"), drawn.matrices(3), "ffn", 4)
    x, sums, streams, caches = drawn.x, [], [drawn.x], []
    for residual, norm in zip(stack.layers[::2], stack.layers[1::2], strict=True):
        added, first = residual.forward(x)
        x, second = norm.forward(added)
        sums.append((added**2).mean())
        streams.append(x)
        caches.append((first, second))
    dy, gradients, signals = drawn.upstream, [], [np.linalg.norm(drawn.upstream)]
    for layer in (2, 1, 0):
        dy, _ = stack.layers[2 * layer + 1].backward(caches[layer][1], dy)
        dy, found = stack.layers[2 * layer].backward(caches[layer][0], dy)
        gradients.insert(0, [np.linalg.norm(g) for _, g in found])
        signals.insert(0, np.linalg.norm(dy))
    assert run.sums == pytest.approx(sums)
    assert run.activations == pytest.approx([(s**2).mean() for s in streams])
    assert run.gradients == pytest.approx([w2 for _, w2 in gradients])
    assert run.signals == pytest.approx(signals)
    assert run.slope == pytest.approx(sum(g**2 for own in gradients for g in own))
    assert run.ratio == run.gradients[0] / run.gradients[-1]
    np.testing.assert_array_equal(run.output, x)
    np.testing.assert_allclose(np.linalg.norm(drawn.upstream, axis=1), 1)


def test_the_norm_in_the_lab_is_the_trace():
    x = np.random.default_rng(0).standard_normal((4, 6))
    gamma, beta = np.arange(1.0, 7), np.arange(6.0)
    spec = find_kind("pre").norm
    assert spec == "layer"
    output, _ = Norm(trace(x).spec, gamma, beta).forward(x)
    np.testing.assert_array_equal(output, trace(x, arithmetic=Float(), gamma=gamma, beta=beta, eps=1e-5).output)


DEPTHS = (6, 24, 96)


@pytest.fixture(scope="module")
def last_gradients():
    """Last-layer gradients by kind: one row a seed, one column a depth; the full table is in tests/long."""
    table = {kind: [] for kind in ("none", "residual", "post", "pre")}
    for seed in (0, 1, 2):
        for runs_of_kinds in zip(*lab.depths(list(table), DEPTHS, width=128, seed=seed), strict=True):
            table[runs_of_kinds[0].kind].append([run.last_gradient for run in runs_of_kinds])
    return {kind: np.array(rows) for kind, rows in table.items()}


@pytest.mark.parametrize(("kind", "power"), [("post", 0), ("pre", 0.5)])
def test_theorem_1(last_gradients, kind, power):
    """Xiong et al. 2020: Post-LN's last gradient is flat in L, Pre-LN's flat times sqrt(L): within 25%."""
    means = (last_gradients[kind] * np.array(DEPTHS) ** power).mean(axis=0)
    assert means.max() / means.min() <= 1.25
    other = (last_gradients[kind] * np.array(DEPTHS) ** (0.5 - power)).mean(axis=0)
    assert other.max() / other.min() > 2  # the other scaling is told apart


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("none", (8.5, 1.8e-2, 1.9e-13)), ("residual", (132, 5.0e3, 1.4e10)), ("post", (37, 40, 36)),
     ("pre", (24, 13, 6.6))],
)  # fmt: skip
def test_last_gradients_are_those_of_other_runs(last_gradients, kind, expected):
    """Figures from single runs made elsewhere, at width 128, and here the geometric mean of three.

    Stacks without norms multiply L factors, each with its own chance: their logarithm scatters with sqrt(L).
    """
    distance = np.log(np.exp(np.log(last_gradients[kind]).mean(axis=0)) / expected)
    scatter = np.log(1.25) if kind in ("post", "pre") else 0.25 * np.sqrt(DEPTHS)
    assert np.all(np.abs(distance) < scatter)


@pytest.mark.parametrize("seed", range(5))
def test_lemma_2(seed):
    """Xiong et al. 2020: E|x|^2/d is 3/2 for Post-LN's sums; 1 + l/2 to 1 + 3l/2 for Pre-LN's."""
    post, pre = lab.compare(["post", "pre"], 24, 128, seed)
    assert np.mean(post.sums) == pytest.approx(1.5, rel=0.1)
    layer = np.arange(1, 25)
    sizes = np.array(pre.activations[1:])
    np.testing.assert_allclose(sizes, 1 + layer / 2, rtol=0.25)  # feed-forward alone: the lower bound
    whole = np.array(lab.run("pre", 12, 128, seed, sublayer="both").activations[1:])
    assert np.all(whole > 1 + layer[:12] / 2)
    assert whole[-1] < 1 + 3 * 12 / 2


def test_claims_say_what_holds_and_what_does_not():
    rows = lab.claims()
    assert tuple(dict.fromkeys(row.id for row in rows)) == lab.CLAIMS
    assert {row.id for row in rows if not row.reproduced} == {"early-decay", "pre-growth"}
    assert all(row.claim and row.measured and row.source and row.note and row.setup for row in rows)


def test_claims_choose_rows_and_report_progress():
    seen = []
    rows = lab.claims(["last-layer"], seed=11, depths=(2, 4), width=8, seeds=2, progress=lambda *s: seen.append(s))
    assert [row.id for row in rows] == ["last-layer", "last-layer"]
    assert "2, 4" in rows[0].measured
    assert "seeds 11, 12" in rows[0].setup
    done = [step for step, _ in seen]
    assert done == sorted(done)
    assert seen[-1] == (48, 48)  # two seeds, two kinds, six layers, forward and backward
    with pytest.raises(InputError, match="no claim 'x'"):
        lab.claims(["x"])


def test_claim_depths_surround_the_depth_asked_for():
    assert lab.claim_depths(lab.DEPTH) == lab.CLAIM_DEPTHS
    assert lab.claim_depths(1) == (1, 2)
    assert lab.claim_depths(1000) == (500, 1000)


def test_kinds_share_weights_and_input_and_differ_in_output():
    post, pre = lab.compare(["post", "pre"], 4, 16, 5)
    assert post.activations[0] == pre.activations[0]
    assert not np.allclose(post.output, pre.output)
    bare = lab.run("pre-no-final", 4, 16, 5)
    assert bare.activations == pre.activations
    assert bare.output_size == bare.activations[-1]
    assert pre.output_size == pytest.approx(1, rel=1e-3)


def test_a_deeper_stack_begins_like_a_shallower_one():
    (shallow,), (deep,) = lab.depths(["pre"], [3, 5], 8)
    assert deep.activations[:4] == shallow.activations


def test_deepnorm_starts_near_the_identity():
    """alpha^4 = 2N, beta^4 = 1/(8N): each sum's branch is small beside its shortcut."""
    alpha, beta = lab.deepnorm_scales(8)
    assert (alpha, beta) == (2.0, 8**-0.5)
    run = lab.run("deepnorm", 24, 64)
    assert run.ratio == pytest.approx(1, rel=0.1)
    drawn = runs.draw(8, 0, "both", 4)
    scaled = dict(Chain(build(find_kind("deepnorm"), drawn.matrices(1), "both", 2).layers).parameters())
    for name, weight in drawn.matrices(1)[0].items():
        times = 1 if name in ("WQ", "WK") else 8**-0.25
        np.testing.assert_allclose(scaled[name], times * weight)
    small, large = lab.compare(["deepnorm", "post"], 24, 64)
    assert small.slope < large.slope / 20


@pytest.mark.parametrize("kind", ["post", "pre", "sandwich"])
def test_rms_in_place_of_layer_norm(kind):
    layer, rms = lab.compare([kind, f"{kind}-rms"], 4, 16)
    assert layer.gradients != rms.gradients
    assert layer.gradients == pytest.approx(rms.gradients, rel=0.5)
    assert lab.run(kind, 4, 16, norm="rms") is rms
    assert lab.run("none", 4, 16, norm="rms") is lab.run("none", 4, 16)


def test_progress_rises_to_its_end_also_when_runs_are_known():
    seen = []
    lab.compare(["none", "pre"], 3, 8, 21, progress=lambda *step: seen.append(step))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert len(seen) > 10
    assert seen[-1] == (12, 12)
    seen.clear()
    lab.compare(["none", "pre"], 3, 8, 21, progress=lambda *step: seen.append(step))
    assert seen == [(6, 12), (12, 12)]


SCRIPT = """
from lnorm_cli import lab
for width in (64, 100, 128):
    for run in lab.compare(["none", "residual", "post", "pre", "dyt"], 6, width, 1, sublayer="both"):
        print(*run.gradients, *run.signals, *run.activations, *run.output.ravel()[:250].tolist())
"""


def test_same_seed_same_bytes_whatever_the_threads():
    outputs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            capture_output=True,
            check=True,
        ).stdout
        for threads in ("1", "2", "4")
    ]
    if int(np.__version__.partition(".")[0]) < 2:  # its BLAS adds in another order on more than one thread
        one, two, four = ([float(number) for number in output.split()] for output in outputs)
        assert two == pytest.approx(one, rel=1e-12)
        assert four == pytest.approx(one, rel=1e-12)
    else:
        assert len(set(outputs)) == 1
    assert lab.run("pre", 4, 8, 1).gradients != lab.run("pre", 4, 8, 2).gradients


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("prae",), {}, "no kind of stack 'prae'"),
        (("none-rms",), {}, "no kind of stack 'none-rms'"),
        (("pre-rms-rms",), {}, "no kind of stack"),
        (("dyt-rms",), {}, "no kind of stack"),
        (("pre", 0), {}, "depth is 0"),
        (("pre", 1001), {}, "depth is 1001"),
        (("pre", 3, 1), {}, "width is 1"),
        (("pre", 3, 8, -1), {}, "seed is -1"),
        (("pre", 3, 8), {"tokens": 0}, "tokens is 0"),
        (("pre", 3, 8), {"sublayer": "conv"}, "no sublayer 'conv'"),
        (("pre", 3, 8), {"norm": "batch"}, "no norm 'batch'"),
        (("pre", 3, 10), {"sublayer": "attention"}, "4 heads do not divide a width of 10"),
        (("pre", 1000, 10_000), {}, "too many for the lab"),
    ],
)
def test_refusals(arguments, options, message):
    with pytest.raises(InputError, match=message):
        lab.run(*arguments, **options)


def test_extreme_depth_gives_numbers_not_warnings():
    none, residual = lab.compare(["none", "residual"], 1000, 4, tokens=2)
    assert none.activations[-1] < 1e-200
    assert residual.activations[-1] > 1e100
