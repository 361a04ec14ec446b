"""The gradients: against sympy's derivative of the formula, finite differences at 80 digits, and complex steps."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from conftest import evaluate, invoke, near
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from lnorm_cli import BATCH, LAYER, RMS, Float, InputError, Spec, backward, trace
from lnorm_cli.reading import exact_text

F = Fraction
N = 3
NORMS = pytest.mark.parametrize("spec", [LAYER, RMS], ids=["layer", "rms"])


@cache
def derivatives(centered: bool) -> tuple[list[Any], Callable[..., list[Any]]]:
    """d/dx, d/dgamma, d/dbeta of sum(dy * y), by sympy from the formula of three features written out."""
    import sympy

    x, gamma, beta, dy = (sympy.symbols(f"{name}0:{N}", real=True) for name in ("x", "g", "b", "d"))
    eps = sympy.Symbol("e", positive=True)
    mean = sum(x) / N if centered else 0
    root = sympy.sqrt(sum((v - mean) ** 2 for v in x) / N + eps)
    loss = sum(d * (g * (v - mean) / root + b) for v, g, b, d in zip(x, gamma, beta, dy, strict=True))
    return [*x, *gamma, *beta, *dy, eps], [sympy.diff(loss, v) for v in [*x, *gamma, *beta]]  # type: ignore[return-value]


small = st.fractions(-9, 9, max_denominator=8)
vectors = st.lists(small, min_size=N, max_size=N)


@NORMS
@settings(max_examples=25, phases=(Phase.generate,))  # a failure is small already; shrinking it takes minutes
@given(x=vectors, gamma=vectors, beta=vectors, dy=vectors, eps=st.sampled_from([F(1, 10**5), F(1), F(3, 7)]))
def test_equal_to_sympys_derivative(spec: Spec, x: Any, gamma: Any, beta: Any, dy: Any, eps: Fraction) -> None:
    import sympy

    symbols, gradients = derivatives(spec is LAYER)
    given_values = [sympy.Rational(v.numerator, v.denominator) for v in [*x, *gamma, *beta, *dy, eps]]
    right = [g.xreplace(dict(zip(symbols, given_values, strict=True))) for g in gradients]  # type: ignore[attr-defined]
    back = backward(trace(x, spec, gamma=gamma, beta=beta, eps=eps), dy)
    ours = [*back["dx"].value[0], *back.dgamma, *back.dbeta]
    for value, truth in zip(ours, right, strict=True):
        assert abs(evaluate(exact_text(value), 60) - mpmath.mpf(truth.evalf(55))) < mpmath.mpf("1e-12")
        assert near(exact_text(value), str(truth.evalf(50)), digits=40)


@NORMS
@settings(max_examples=25, phases=(Phase.generate,))
@given(x=st.lists(small, min_size=2, max_size=5), data=st.data())
def test_equal_to_finite_differences(spec: Spec, x: list[Fraction], data: st.DataObject) -> None:
    n = len(x)
    gamma, beta, dy = (data.draw(st.lists(small, min_size=n, max_size=n)) for _ in range(3))
    eps = F(1, 100)
    step = F(1, 10**20)

    def loss(values: list[Fraction]) -> Any:
        output = trace(values, spec, gamma=gamma, beta=beta, eps=eps).output
        return mpmath.fsum(evaluate(str(d), 80) * evaluate(exact_text(v), 80) for d, v in zip(dy, output, strict=True))

    back = backward(trace(x, spec, gamma=gamma, beta=beta, eps=eps), dy)
    with mpmath.workdps(80):
        for i in range(n):
            up, down = (loss([v + sign * step * (j == i) for j, v in enumerate(x)]) for sign in (1, -1))
            ours = evaluate(exact_text(back["dx"].value[0, i]), 80)
            assert abs((up - down) / (2 * evaluate(str(step), 80)) - ours) < mpmath.mpf("1e-30")


def test_known_by_hand() -> None:
    """x = 2 4 4 6, dy = 1 0 0 0: s = sqrt 2, xhat = -sqrt 2 0 0 sqrt 2."""
    back = backward(trace([2, 4, 4, 6], eps=0), [1, 0, 0, 0])
    assert [exact_text(v) for v in back["dx"].value[0]] == ["sqrt(2)/8", "-sqrt(2)/8", "-sqrt(2)/8", "sqrt(2)/8"]
    assert [exact_text(v) for v in back.dgamma] == ["-sqrt(2)", "0", "0", "0"]
    assert back.dbeta.tolist() == [1, 0, 0, 0]
    assert [step.name for step in back] == [
        "upstream", "normalized_gradient", "gradient_product", "mean_product", "projection", "mean_gradient",
        "centered_gradient", "remaining_gradient", "dx",
    ]  # fmt: skip


@given(x=st.lists(small, min_size=2, max_size=6, unique=True), dy=small)
def test_what_the_norm_removes_has_no_gradient(x: list[Fraction], dy: Fraction) -> None:
    """A gradient along ones or along x - mean is what shift and scale invariance forbid (eps 0)."""
    back = backward(trace(x, eps=0), [dy] + [F(1)] * (len(x) - 1))
    dx = [evaluate(exact_text(v)) for v in back["dx"].value[0]]
    assert abs(mpmath.fsum(dx)) < 1e-12
    assert abs(mpmath.fsum(d * evaluate(str(v)) for d, v in zip(dx, x, strict=True))) < 1e-10


def numerical(x: Any, axes: tuple[int, ...], gamma: Any, dy: Any) -> tuple[Any, Any]:
    """dx by the derivative of numpy's own forward pass, through complex steps; and xhat."""

    def loss(z: Any) -> Any:
        mean = z.mean(axes, keepdims=True)
        return (dy * gamma * (z - mean) / np.sqrt(((z - mean) ** 2).mean(axes, keepdims=True) + 1e-5)).sum()

    dx = np.zeros(x.shape)
    for index in np.ndindex(*x.shape):
        z = x.astype(complex)
        z[index] += 1e-30j
        dx[index] = loss(z).imag / 1e-30
    mean = x.mean(axes, keepdims=True)
    return dx, (x - mean) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


SHAPES = [
    ((-1,), (1, 1, 4), (1, 1, 4)), ((1, 2), (1, 3, 4), (1, 3, 4)), ((0, 2), (1, 3, 1), (1, 3, 1)),
    ((-1,), (1, 3, 4), (1, 3, 4)), ((-1,), (1, 1, 1), (1, 1, 1)), ((0,), (1, 3, 1), (1, 3, 1)),
    ((0, 1, 2), (2, 3, 4), None),
]  # fmt: skip


@pytest.mark.parametrize(("axes", "gamma_shape", "shape"), SHAPES)
def test_any_axes_and_parameter_shapes(axes: tuple[int, ...], gamma_shape: tuple[int, ...], shape: Any) -> None:
    draw = np.random.default_rng(7)
    x, dy = draw.normal(size=(2, 3, 4)), draw.normal(size=(2, 3, 4))
    gamma = draw.normal(size=gamma_shape)
    dx, xhat = numerical(x, axes, gamma, dy)
    back = backward(trace(x, Spec(axes=axes), Float(), gamma=gamma), dy, shape)
    np.testing.assert_allclose(back.layout.restore(back["dx"].value), dx, atol=1e-12)
    repeated = tuple(axis for axis, size in enumerate(gamma_shape) if size == 1)
    for ours, terms in ((back.dgamma, dy * xhat), (back.dbeta, dy)):
        assert ours.shape == gamma_shape
        np.testing.assert_allclose(ours, terms.sum(repeated, keepdims=True), atol=1e-12)


def test_batch_norm_is_layer_norm_of_the_transpose() -> None:
    x, dy = [["1", "2", "4"], ["0", "5", "9"]], [["1", "0", "2"], ["3", "-1", "1/2"]]
    down = backward(trace(x, BATCH), np.array(dy))
    across = backward(trace(np.array(x).T), np.array(dy).T)
    assert (down.layout.restore(down["dx"].value) == across.layout.restore(across["dx"].value).T).all()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_float_gradients_are_near_the_exact_ones(dtype: str) -> None:
    x, gamma, dy = ["2", "4", "1", "3"], ["1", "1/2", "2", "1"], ["1", "-1", "1/4", "0"]
    truth = backward(trace(x, gamma=gamma), dy)
    floats = backward(trace(x, LAYER, Float(dtype), gamma=gamma), dy)
    unit = Float(dtype).unit
    for name in ("dx", "remaining_gradient"):
        right = [float(evaluate(exact_text(v))) for v in truth[name].value[0]]
        assert [float(v) for v in floats[name].value[0]] == pytest.approx(right, abs=12 * unit)
    assert floats.dgamma.dtype == Float(dtype).dtype


def test_refusals() -> None:
    forward = trace([[1, 2], [3, 5]])
    with pytest.raises(InputError, match=r"upstream gradient has shape \(3,\), x has \(2, 2\)"):
        backward(forward, [1, 2, 3])
    with pytest.raises(InputError, match="LayerNorm, RMSNorm or BatchNorm"):
        backward(trace([1, 2], Spec(divisor="n-1")), [1, 1])


def test_the_command_shows_the_gradients() -> None:
    asked = ("compute", "2", "4", "4", "6", "--eps", "0", "--backward", "1", "0", "0", "0")
    done = invoke(*asked)
    assert done.code == 0
    assert "√2/8, -√2/8, -√2/8, √2/8" in done.out
    document = json.loads(invoke(*asked, "--json").out)
    assert document["backward"]["dgamma"]["exact"] == ["-sqrt(2)", "0", "0", "0"]
    assert document["backward"]["dbeta"]["float"] == [1, 0, 0, 0]
    assert document["rows"][0]["backward"][-1]["name"] == "dx"
    assert document["rows"][0]["backward"][-1]["exact"] == ["sqrt(2)/8", "-sqrt(2)/8", "-sqrt(2)/8", "sqrt(2)/8"]
    refused = invoke("compute", "1", "2", "3", "--backward", "1", "2")
    assert refused.code == 2
    assert "upstream gradient has shape (2,), x has (3,)" in refused.err
