"""trace: known values, properties, and every wrong Spec against a formula written out in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from conftest import evaluate, near
from hypothesis import given
from hypothesis import strategies as st
from oracles import FORMATS, layer_norm

from lnorm_cli import BATCH, LAYER, RMS, Exact, Float, InputError, Spec, UndefinedError, exact, trace
from lnorm_cli.norm import Trace, backward
from lnorm_cli.reading import exact_text

F = Fraction

N1 = {
    "mean": "4", "deviation": "-2 0 0 2", "squared_deviation": "4 0 0 4", "variance": "2",
    "standard_deviation": "sqrt(2)", "normalized": "-sqrt(2) 0 0 sqrt(2)", "output": "-sqrt(2) 0 0 sqrt(2)",
}  # fmt: skip
N2 = {"mean": "5/2", "variance": "5/4", "output": "-sqrt(5)/5 3*sqrt(5)/5 -3*sqrt(5)/5 sqrt(5)/5"}
N3 = {"mean": "4", "variance": "5/2", "output": "-sqrt(10)/5 sqrt(10)/5 -2*sqrt(10)/5 2*sqrt(10)/5"}
N4 = {"normalized": N3["output"], "output": "-sqrt(10)/10 sqrt(10)/5 -3*sqrt(10)/5 4*sqrt(10)/5"}
N8 = {"variance_plus_epsilon": "7/2", "output": "-sqrt(14)/7 sqrt(14)/7 -2*sqrt(14)/7 2*sqrt(14)/7"}

KNOWN: list[tuple[str, str, dict[str, str], dict[str, str]]] = [
    ("N1", "2 4 4 6", {}, N1),
    ("N2", "2 4 1 3", {}, N2),
    ("N2 with epsilon", "2 4 1 3", {"eps": "1e-5"}, {"variance_plus_epsilon": "125001/100000"}),
    ("N3", "3 5 2 6", {}, N3),
    ("N4", "3 5 2 6", {"gamma": "1/2 1 3/2 2"}, N4),
    ("N5", "1 2 3", {}, {"mean": "2", "variance": "2/3", "output": "-sqrt(6)/2 0 sqrt(6)/2"}),
    ("N8", "3 5 2 6", {"eps": "1"}, N8),
    ("N9", "0.01 0.02 0.03 0.02", {"eps": "1"}, {"variance": "1/20000", "variance_plus_epsilon": "20001/20000"}),
    ("one feature", "-3", {"gamma": "1e16", "beta": "-1", "eps": "0.1"}, {"variance": "0", "output": "-1"}),
    ("constant row", "7 7", {"eps": "1e-5", "beta": "1 2"}, {"normalized": "0 0", "output": "1 2"}),
]


@pytest.mark.parametrize(("x", "parameters", "values"), [k[1:] for k in KNOWN], ids=[k[0] for k in KNOWN])
def test_known_values(x: str, parameters: dict[str, str], values: dict[str, str]) -> None:
    options = {"eps": ["0"], **{name: text.split() for name, text in parameters.items()}}
    eps = options.pop("eps")[0]
    steps = trace(x.split(), gamma=options.get("gamma", 1), beta=options.get("beta", 0), eps=eps)
    for name, texts in values.items():
        printed = [exact_text(value) for value in steps[name].value[0]]
        assert printed == [exact_text(v) for v in trace(texts.split()).steps[0].value[0]], name
        assert all(near(ours, evaluate(text, 60)) for ours, text in zip(printed, texts.split(), strict=True))


DECIMALS = [
    ("2 4 4 6", "0", "-1.41421356 0 0 1.41421356"),
    ("2 4 1 3", "1e-5", "-0.44721181 1.34163542 -1.34163542 0.44721181"),
    ("3 5 2 6", "0", "-0.63245553 0.63245553 -1.26491106 1.26491106"), ("1 2 3", "0", "-1.22474487 0 1.22474487"),
    ("3 5 2 6", "1", "-0.53452248 0.53452248 -1.06904497 1.06904497"),
    ("0.01 0.02 0.03 0.02", "1", "-0.00999975 0 0.00999975 0"),
]  # fmt: skip


@pytest.mark.parametrize(("x", "eps", "digits"), DECIMALS)
@pytest.mark.parametrize("arithmetic", [Exact(), Float(), Float("float32")], ids=["exact", "float64", "float32"])
def test_known_decimals(x: str, eps: str, digits: str, arithmetic: Any) -> None:
    output = trace(x.split(), LAYER, arithmetic, eps=eps).output
    assert [exact.to_float(v) for v in trace(output.tolist()).steps[0].value[0]] == pytest.approx(
        [float(v) for v in digits.split()], abs=6e-7 if getattr(arithmetic, "name", "") == "float32" else 6e-9
    )


def mean(values: Sequence[Any]) -> Any:
    return mpmath.fsum(values) / len(values)


def var(x: Sequence[Any], less: int = 0) -> Any:
    return mpmath.fsum((v - mean(x)) ** 2 for v in x) / (len(x) - less)


def msq(x: Sequence[Any]) -> Any:
    return mean([v * v for v in x])


Formula = Callable[[list[Any], list[Any], list[Any], Any], list[Any]]
root = mpmath.sqrt


def plain(m: Callable[[Any], Any], s: Callable[[Any, Any], Any]) -> Formula:
    return lambda x, g, b, e: [gi * (v - m(x)) / s(x, e) + bi for v, gi, bi in zip(x, g, b, strict=True)]


def affine(of: Callable[[Any, Any, Any], Any], turn: int = 1) -> Formula:
    return lambda x, g, b, e: [
        of((v - mean(x)) / root(var(x) + e), gi, bi) for v, gi, bi in zip(x, g[::turn], b[::turn], strict=True)
    ]


def pooled(pool: Callable[[Any], Any]) -> Formula:
    return plain(lambda x: mean(pool(x)), lambda x, e: root(var(pool(x)) + e))


def after(x: Any, g: Any, b: Any, e: Any) -> list[Any]:
    return [gi * ((v - mean(x)) / root(var(x)) + e) + bi for v, gi, bi in zip(x, g, b, strict=True)]


def first(x: Any, g: Any, b: Any, e: Any) -> list[Any]:
    return [g[0] * (v - mean(x)) / root(var(x) + e) + b[0] for v in x]


def first_gamma(x: Any, g: Any, b: Any, e: Any) -> list[Any]:
    return [g[0] * (v - mean(x)) / root(var(x) + e) + bi for v, bi in zip(x, b, strict=True)]


def first_beta(x: Any, g: Any, b: Any, e: Any) -> list[Any]:
    return [gi * (v - mean(x)) / root(var(x) + e) + b[0] for v, gi in zip(x, g, strict=True)]


def padded_variance(x: Any, e: Any) -> Any:
    return root((len(x) * var(x) + 2 * mean(x) ** 2) / len(x) + e)


def zero(x: Any) -> int:
    return 0


WRONG: list[tuple[Spec, Formula]] = [
    (LAYER, plain(mean, lambda x, e: root(var(x) + e))),
    (RMS, plain(zero, lambda x, e: root(msq(x) + e))),
    (Spec(divisor="n-1"), plain(mean, lambda x, e: root(var(x, 1) + e))),
    (Spec(divisor="1"), plain(mean, lambda x, e: root(len(x) * var(x) + e))),
    (Spec(power=F(1)), plain(mean, lambda x, e: var(x) + e)),
    (Spec(power=F(0)), plain(mean, lambda x, e: F(1))),
    (Spec(power=F(2)), plain(mean, lambda x, e: (var(x) + e) ** 2)),
    (Spec(power=F(1, 4)), plain(mean, lambda x, e: root(root(var(x) + e)))),
    (Spec(power=F(-1, 2)), plain(mean, lambda x, e: 1 / root(var(x) + e))),
    (Spec(spread="mean-absolute", power=F(1)), plain(mean, lambda x, e: mean([abs(v - mean(x)) for v in x]) + e)),
    (Spec(spread="one-pass"), plain(mean, lambda x, e: root(msq(x) - mean(x) ** 2 + e))),
    (Spec(numerator="raw"), plain(zero, lambda x, e: root(var(x) + e))),
    (Spec(spread="mean-square"), plain(mean, lambda x, e: root(msq(x) + e))),
    (Spec(numerator="flipped"), plain(mean, lambda x, e: -root(var(x) + e))),
    (Spec(epsilon="omitted"), plain(mean, lambda x, e: root(var(x)))),
    (Spec(epsilon="outside"), plain(mean, lambda x, e: root(var(x)) + e)),
    (Spec(epsilon="outside", divisor="n-1"), plain(mean, lambda x, e: root(var(x, 1)) + e)),
    (Spec(epsilon="alone"), plain(mean, lambda x, e: root(e))),
    (Spec(epsilon="after"), after),
    (Spec(affine="gamma-omitted"), affine(lambda z, g, b: z + b)),
    (Spec(affine="beta-omitted"), affine(lambda z, g, b: g * z)),
    (Spec(affine="omitted"), affine(lambda z, g, b: z)),
    (Spec(affine="swapped"), affine(lambda z, g, b: b * z + g)),
    (Spec(affine="shift-scale"), affine(lambda z, g, b: g * (z + b))),
    (Spec(affine="beta-subtracted"), affine(lambda z, g, b: g * z - b)),
    (Spec(affine="gamma-first"), first_gamma),
    (Spec(affine="beta-first"), first_beta),
    (Spec(affine="gamma-divided"), affine(lambda z, g, b: z / g + b)),
    (Spec(affine="one-plus-gamma"), affine(lambda z, g, b: (1 + g) * z + b)),
    (Spec(affine="first-only"), first),
    (Spec(affine="reversed"), affine(lambda z, g, b: g * z + b, turn=-1)),
    (Spec(pool="padded", padding=2), pooled(lambda x: [*x, 0, 0])),
    (Spec(pool="padded-variance", padding=2), plain(mean, padded_variance)),
    (Spec(pool="truncated", padding=1), pooled(lambda x: x[:-1])),
    (replace(RMS, divisor="n-1"), plain(zero, lambda x, e: root(len(x) * msq(x) / (len(x) - 1) + e))),
    (replace(RMS, power=F(-1, 2)), plain(zero, lambda x, e: 1 / root(msq(x) + e))),
    (replace(RMS, pool="padded", padding=1), plain(zero, lambda x, e: root(len(x) * msq(x) / (len(x) + 1) + e))),
]


@pytest.mark.parametrize(("spec", "formula"), WRONG, ids=[repr(s)[5:60] if s != LAYER else "layer" for s, _ in WRONG])
def test_every_spec_is_its_formula(spec: Spec, formula: Formula) -> None:
    x, gamma, beta, eps = ["3", "5", "2", "7"], ["2", "-1", "1/2", "3"], ["1", "0", "-2", "1/3"], "1/100"
    with mpmath.workdps(60):
        values, scale, shift = ([evaluate(v, 60) for v in vector] for vector in (x, gamma, beta))
        right = formula(values, scale, shift, evaluate(eps, 60))
        output = trace(x, spec, gamma=gamma, beta=beta, eps=eps).output
        assert all(near(exact_text(ours), truth) for ours, truth in zip(output, right, strict=True))
    floats = trace(x, spec, Float(), gamma=gamma, beta=beta, eps=eps).output
    assert floats.tolist() == pytest.approx([float(v) for v in right], rel=1e-13, abs=1e-13)


def test_statistics_of_neighbours_and_of_columns() -> None:
    x = [["1", "2", "4"], ["3", "5", "9"], ["8", "0", "1"]]
    steps = trace(x, Spec(pool="column"), eps="1e-5")
    given_values = [
        ["-1.0690415314502974744", "-1.4699356493205190714", "0.28097563256309617368"],
        ["0.53452076572514873719", "-0.26726102714918528571", "1.6858537953785770421"],
        ["4.5434265086637642661", "-2.2717187307680749286", "-0.56195126512619234736"],
    ]  # flagos-ai/FlagGems#59
    for ours, theirs in zip(steps.output.flat, np.ravel(given_values), strict=True):
        assert near(exact_text(ours), theirs, digits=18)
    pooled = trace(x, Spec(pool="neighbours", padding=1), eps=0)
    assert pooled["mean"].value.tolist() == [[F(10, 4)], [F(25, 4)], [F(9, 4)]]
    with pytest.raises(InputError, match="statistics of 2 rows do not fit 3 columns"):
        trace(x[:2], Spec(pool="column"))


rows = st.lists(st.fractions(-50, 50, max_denominator=40), min_size=2, max_size=7)


@given(x=rows, shift=st.fractions(-1000, 1000, max_denominator=9), eps=st.sampled_from([F(0), F(1, 10**5), F(1)]))
def test_shift_invariance_is_exact(x: list[Fraction], shift: Fraction, eps: Fraction) -> None:
    if eps or len(set(x)) > 1:
        assert (trace(x, eps=eps).output == trace([v + shift for v in x], eps=eps).output).all()


@given(x=rows, scale=st.fractions(F(1, 9), 99, max_denominator=9), spec=st.sampled_from([LAYER, RMS]))
def test_scale_invariance_is_exact_without_epsilon(x: list[Fraction], scale: Fraction, spec: Spec) -> None:
    if len(set(x)) > 1:
        assert (trace(x, spec, eps=0).output == trace([v * scale for v in x], spec, eps=0).output).all()
        assert (trace(x, spec, eps=0).output == -trace([-v * scale for v in x], spec, eps=0).output).all()


@given(x=rows, eps=st.sampled_from([F(1, 10**5), F(1, 10**12), F(3, 7)]))
def test_normalized_has_mean_0_and_variance_var_over_var_plus_eps(x: list[Fraction], eps: Fraction) -> None:
    steps = trace(x, eps=eps)
    again = trace(steps["normalized"].value[0], eps=eps)
    assert again["mean"].value[0, 0] == 0
    variance = sum((v - sum(x) / len(x)) ** 2 for v in x) / len(x)
    assert steps["variance"].value[0, 0] == variance
    assert again["variance"].value[0, 0] == variance / (variance + eps)


@given(x=st.lists(st.integers(-1000, 1000).map(lambda k: F(k, 8)), min_size=2, max_size=40))
def test_float64_is_within_a_few_units_of_the_exact_value(x: list[Fraction]) -> None:
    truth = trace(x)["normalized"].value[0]
    floats = trace(x, LAYER, Float())["normalized"].value[0]
    largest = max(abs(exact.to_float(v)) for v in truth)
    for ours, right in zip(floats, truth, strict=True):
        assert abs(F(float(ours)) - exact.approximate(right)) <= (4 + len(x)) * F(math.ulp(largest))


@pytest.mark.parametrize("dtype", FORMATS)
@given(
    x=st.lists(st.integers(-800, 800).map(lambda k: k / 64), min_size=1, max_size=7),
    gamma=st.floats(-4, 4, width=16), beta=st.floats(-4, 4, width=16),
)  # fmt: skip
def test_a_float_trace_rounds_at_every_operation(dtype: str, x: list[float], gamma: float, beta: float) -> None:
    """Bit for bit, for rows so short that numpy adds from left to right as well."""
    steps = trace(x, LAYER, Float(dtype), gamma=gamma, beta=beta, eps=F(1, 1000))
    assert [float(v) for v in steps.output] == layer_norm(x, gamma, beta, F(1, 1000), dtype)


@pytest.mark.parametrize("axes", [(-1,), (0,), (1,), (0, 1), (2, 1), (0, 2), (0, 1, 2)])
def test_any_axes_agree_with_numpy(axes: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).normal(size=(2, 3, 4))
    right = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)
    steps = trace(x, Spec(axes=axes), Float())
    np.testing.assert_allclose(steps.output, right, rtol=0, atol=1e-14)
    assert steps.layout.count == right.size // steps.layout.n == math.prod(x.shape) // steps.layout.n
    assert [x[i] for i in np.ndindex(*x.shape)] == [
        steps.layout.restore(steps["x"].value)[i] for i in np.ndindex(2, 3, 4)
    ]


def test_batch_norm_is_the_same_function_down_the_batch() -> None:
    assert trace([["1", "2"], ["3", "6"]], BATCH, eps=0).output.tolist() == [[-1, -1], [1, 1]]


@pytest.mark.parametrize("spec", [LAYER, RMS])
def test_zero_over_zero(spec: Spec) -> None:
    with pytest.raises(UndefinedError, match="0/0 is undefined"):
        trace([0, 0], spec, eps=0)
    assert np.isnan(trace([0, 0], spec, Float(), eps=0).output).all()
    assert trace([0, 0], spec, eps="1e-400", beta=3).output.tolist() == [3, 3]


@pytest.mark.parametrize(
    ("x", "spec", "words"),
    [([], LAYER, "empty"), ([1], Spec(axes=(1,)), "axis 1 does not exist"), ([1], Spec(axes=(0, -1)), "distinct"),
     ([[1]], Spec(axes=()), "distinct")],
)  # fmt: skip
def test_what_cannot_be_traced(x: Any, spec: Spec, words: str) -> None:
    with pytest.raises(InputError, match=words):
        trace(x, spec)


def test_each_step_is_kept_in_the_dtype_that_it_was_rounded_to() -> None:
    steps = trace([1, 2, 4], LAYER, Float("float16", accumulate="float32"), gamma=[1, 2, 3])
    own = {step.name for step in steps if step.value.dtype == np.float16}
    assert own == {"x", "normalized", "scaled", "output"}
    assert {step.value.dtype for step in steps if step.name not in own} == {np.dtype(np.float32)}


def test_the_steps_in_order() -> None:
    assert [step.name for step in trace([1, 2])] == [
        "x", "mean", "deviation", "squared_deviation", "variance", "variance_plus_epsilon", "standard_deviation",
        "normalized", "scaled", "output",
    ]  # fmt: skip
    assert [step.name for step in trace([1, 2], RMS)] == [
        "x", "square", "mean_square", "mean_square_plus_epsilon", "root_mean_square", "normalized", "scaled", "output",
    ]  # fmt: skip
    steps = trace([1, 2])
    assert "mean" in steps
    assert "mean_square" not in steps
    with pytest.raises(KeyError):
        steps["mean_square"]


def test_steps_with_one_number_a_row_are_statistics() -> None:
    def statistics(steps: Trace) -> list[str]:
        assert all(step.value.shape[-1] == (1 if step.statistic else 3) for step in steps)
        return [step.name for step in steps if step.statistic]

    spread = ["mean", "variance", "variance_plus_epsilon", "standard_deviation"]
    x = [[1, 2, 6], [0, 4, 5]]
    assert statistics(trace(x)) == spread
    assert statistics(trace(x, Spec(divisor="n-1"))) == spread
    assert statistics(trace(x, Spec(divisor="1"))) == spread
    assert statistics(trace(x, RMS)) == ["mean_square", "mean_square_plus_epsilon", "root_mean_square"]
    assert statistics(trace(x, Spec(spread="one-pass")))[:4] == ["mean", "mean_square", "squared_mean", "variance"]
    assert statistics(trace(x, Spec(epsilon="alone"))) == ["mean", "variance", "standard_deviation"]
    forward = trace(x)
    assert statistics(backward(forward, x)) == ["mean_product", "mean_gradient"]


def test_the_values_of_one_row_and_of_a_parameter() -> None:
    steps = trace([[1, 2, 6], [0, 4, 5]], gamma=[1, 2, 3], beta="1/2", eps=0)
    second = steps.row(1)
    assert (second["mean"].tolist(), second["gamma"].tolist(), second["beta"].tolist()) == ([3], [1, 2, 3], [F(1, 2)])
    assert second["deviation"].tolist() == [-3, 1, 2]
    assert steps.value("gamma").tolist() == [[1, 2, 3]] * len(steps.value("gamma"))
    assert steps.value("variance").tolist() == [[F(14, 3)], [F(14, 3)]]


def test_pools_at_their_limits() -> None:
    x = [["3", "5", "2", "7"], ["1", "0", "4", "8"]]
    assert trace(x[0], Spec(pool="truncated", padding=3))["mean"].value.tolist() == [[3]]
    assert trace(x[0], Spec(pool="truncated", padding=9), eps=1)["mean"].value.tolist() == [[3]]  # one is always left
    assert trace(x, Spec(pool="neighbours", padding=2))["mean"].value.tolist() == [[3], [F(13, 6)]]
    for nothing_added in (Spec(pool="padded", padding=0), Spec(padding=2)):
        steps = trace(x, nothing_added)
        assert "pool" not in steps
        assert steps.output.tolist() == trace(x).output.tolist()
    sum_of_six = trace(x[0], Spec(pool="padded", padding=2, divisor="n-1"), eps=0)
    assert sum_of_six["variance"].value[0, 0] == (F(87) - 6 * F(17, 6) ** 2) / 5


@pytest.mark.parametrize("name", ["gamma", "beta"])
def test_parameters_that_do_not_fit(name: str) -> None:
    options: dict[str, Any] = {name: [1, 2, 3]}
    with pytest.raises(InputError, match=rf"{name} has shape \(3,\), x has \(2,\)"):
        trace([1, 2], **options)
    assert trace([[1, 2], [3, 4]], **{name: [[5], [6]]}).output.shape == (2, 2)


def test_one_number_is_a_row_of_its_own() -> None:
    steps = trace("7", beta="2")
    assert (steps.output.tolist(), steps.layout.shape) == ([2], (1,))
