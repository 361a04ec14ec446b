"""Exact arithmetic against mpmath, and floating point in four dtypes against rounding done in fractions."""

from __future__ import annotations

import math
import operator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from conftest import evaluate, near
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import FORMATS, nearest, nearest_root

from lnorm_cli import Exact, Float, InputError, UndefinedError, exact, trace
from lnorm_cli.arithmetic import to_exact
from lnorm_cli.reading import exact_text, parse_number

F = Fraction
DTYPES = list(FORMATS)
fractions = st.one_of(
    st.fractions(),
    st.builds(lambda m, e: F(m) * F(2) ** e, st.integers(-(2**60), 2**60), st.integers(-1100, 1000)),
    st.builds(lambda m, e: F(m) * F(2) ** e, st.integers(-(2**13), 2**13), st.integers(-30, 6)),
)


def finite(value: Any) -> Fraction:
    return F(float(value))


@pytest.mark.parametrize("dtype", DTYPES)
@given(value=fractions)
@example(value=F(65519))  # the last that float16 rounds down
@example(value=F(65520))
@example(value=F(1, 2**25))
@example(value=F(2**11 + 1, 2**11) + F(1, 2**80))  # a hair above a tie: rounding twice gets it wrong
@example(value=F(2**24 + 1) + F(1, 2**60))
@example(value=F(257) - F(1, 2**70))
@example(value=-(F(10) ** 400))
@example(value=F(1, 10**400))
def test_values_are_rounded_once_to_the_nearest(dtype: str, value: Fraction) -> None:
    rounded = float(Float(dtype).array(np.array([value], dtype=object))[0])
    assert rounded == nearest(value, dtype)
    assert float(exact.to_float(value)) == nearest(value, "float64")


@pytest.mark.parametrize("dtype", DTYPES)
@given(k=st.integers(2, 10**12), c=st.fractions(F(1, 1000), 1000, max_denominator=1000))
def test_irrational_values_too(dtype: str, k: int, c: Fraction) -> None:
    value = exact.multiply(c, exact.power(F(k), F(1, 2)))
    assert float(Float(dtype).array(np.array([value], dtype=object))[0]) == nearest_root(c * c * k, dtype)


OPERATIONS = {"add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPERATIONS)
@given(a=st.floats(-300, 300, width=16), b=st.floats(-300, 300, width=16))
def test_every_operation_rounds_to_the_nearest(dtype: str, name: str, a: float, b: float) -> None:
    arithmetic = Float(dtype)
    left, right = (arithmetic.array(np.array([[v]])) for v in (a, b))
    if name == "divide" and finite(right[0, 0]) == 0:
        return
    result = getattr(arithmetic, name)(left, right)
    assert result.dtype == arithmetic.dtype
    truth = OPERATIONS[name](finite(left[0, 0]), finite(right[0, 0]))
    assert float(result[0, 0]) == nearest(truth, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@given(a=st.floats(0, 60000, width=16))
def test_roots_round_to_the_nearest(dtype: str, a: float) -> None:
    arithmetic = Float(dtype)
    value = arithmetic.array(np.array([[a]]))
    half, quarter = (arithmetic.power(value, F(1, k)) for k in (2, 4))
    root = nearest_root(finite(value[0, 0]), dtype)
    assert float(half[0, 0]) == root
    assert float(quarter[0, 0]) == nearest_root(F(root), dtype)
    if root:
        assert float(arithmetic.power(value, F(-1, 2))[0, 0]) == nearest(1 / F(root), dtype)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@given(values=st.lists(st.floats(-100, 100, width=16), min_size=1, max_size=40))
def test_half_precision_sums_run_from_left_to_right(dtype: str, values: list[float]) -> None:
    arithmetic = Float(dtype)
    row = arithmetic.array(np.array([values]))
    total = F(0)
    for value in row[0]:
        total = finite(nearest(total + finite(value), dtype))
    assert finite(arithmetic.sum(row)[0, 0]) == total


def test_overflow_and_zero_divided_by_zero_are_values_not_errors() -> None:
    half = Float("float16")
    big = half.array([[300.0]])
    assert float(half.multiply(big, big)[0, 0]) == math.inf
    assert math.isnan(float(half.divide(half.array([[0]]), half.array([[0]]))[0, 0]))
    assert float(half.divide(big, half.array([[0]]))[0, 0]) == math.inf


def test_statistics_have_the_accumulate_dtype() -> None:
    mixed = Float("float16", accumulate="float32")
    assert (mixed.name, mixed.statistics.name, mixed.statistics.statistics.name) == ("float16", "float32", "float32")
    assert mixed.statistics.add(mixed.array([[1]]), mixed.array([[1]])).dtype == np.float32
    assert [Float(dtype).unit for dtype in DTYPES] == [2.0**-53, 2.0**-24, 2.0**-11, 2.0**-8]


@pytest.mark.parametrize("names", [("float128", None), ("float16", "int8"), ("", None)])
def test_unknown_dtypes(names: tuple[str, str | None]) -> None:
    with pytest.raises(InputError, match="unknown dtype"):
        Float(*names)


EXACT_VALUES: list[tuple[Any, Any]] = [
    ([0.1], [F(3602879701896397, 36028797018963968)]), (["0.1", "1/3"], [F(1, 10), F(1, 3)]), ([2, True], [2, 1]),
    ([Decimal("0.1")], [F(1, 10)]), (np.array([0.1], np.float32), [F(13421773, 134217728)]), (7, 7),
    (np.array([2**63], np.uint64), [2**63]), ([np.float32(0.5), F(1, 3)], [F(1, 2), F(1, 3)]), ([[1, 2]], [[1, 2]]),
    (np.array([np.longdouble(1) + np.finfo(np.longdouble).eps]), [1 + F(float(np.finfo(np.longdouble).eps))]),
]  # fmt: skip


@pytest.mark.parametrize(("given_values", "values"), EXACT_VALUES, ids=[repr(v)[:30] for v, _ in EXACT_VALUES])
def test_a_float_is_the_binary_number_that_it_is_and_text_what_it_says(given_values: Any, values: Any) -> None:
    assert to_exact(given_values).tolist() == values


@pytest.mark.parametrize("values", [[1j], np.array([b"1"]), np.array(["2020-01-01"], "M8[D]")])
def test_what_is_no_real_number_is_refused(values: Any) -> None:
    with pytest.raises(InputError, match="not real numbers"):
        to_exact(values)


@pytest.mark.parametrize(
    "values", [[math.nan], [-math.inf], np.array([np.inf], np.float32), [F(1), np.float16(np.nan)]]
)
def test_what_is_not_finite_has_no_exact_value(values: Any) -> None:
    with pytest.raises(InputError, match="not a finite number"):
        to_exact(values)


SURDS = st.sampled_from(
    ["0", "1", "-2", "2/3", "sqrt(2)", "-sqrt(3)", "sqrt(2)/3", "1+sqrt(2)", "pi", "2-sqrt(5)", "1e-30"]
)


@pytest.mark.parametrize("name", [*OPERATIONS, "power", "absolute"])
@given(a=SURDS, b=SURDS)
def test_exact_operations_agree_with_mpmath(name: str, a: str, b: str) -> None:
    x, y = parse_number(a), parse_number(b)
    texts = {"add": f"({a})+({b})", "subtract": f"({a})-({b})", "multiply": f"({a})*({b})", "divide": f"({a})/({b})",
             "power": f"({a})^(1/2)", "absolute": f"abs({a})"}  # fmt: skip
    try:
        result = {
            "power": lambda: exact.power(x, F(1, 2)),
            "absolute": lambda: exact.absolute(x),
        }.get(name, lambda: getattr(exact, name)(x, y))()
    except UndefinedError:
        assert (name == "divide" and b == "0") or (name == "power" and exact.to_float(x) < 0)
        return
    truth, tiny = evaluate(texts[name], 150), mpmath.mpf("1e-120")
    assert abs(evaluate(exact_text(result), 150) - truth) < tiny
    assert exact.sign(result) == int(truth > tiny) - int(truth < -tiny)
    assert exact.is_zero(result) == (abs(truth) < tiny)


@pytest.mark.parametrize(
    "zero",
    [
        "sqrt(2)*sqrt(3)-sqrt(6)",
        "sqrt(3+2sqrt(2))-1-sqrt(2)",
        "(1+sqrt(2))^2-3-2sqrt(2)",
        "sqrt(8)-2sqrt(2)",
        "1/(1+sqrt(2))-sqrt(2)+1",
        "1/(sqrt(2)+sqrt(3))-sqrt(3)+sqrt(2)",
    ],
)
def test_a_zero_is_known_as_zero_in_whatever_form(zero: str) -> None:
    value = parse_number(zero)
    assert exact.is_zero(value)
    with pytest.raises(UndefinedError, match="0/0"):
        exact.divide(F(0), value)


def test_roots_of_numbers_whose_two_large_factors_are_near_each_other() -> None:
    """sympy/sympy#28621: its factoring raised ValueError for such products."""
    a, b = (exact.power(F(k), F(1, 2)) for k in (989034254522489566, 989034254830458946))
    product = exact.multiply(a, b)
    assert near(exact_text(exact.multiply(product, product)), str(989034254522489566 * 989034254830458946), digits=40)
    x = trace(["1e400", "3", "0"])["normalized"].value[0]
    assert [round(exact.to_float(v), 12) for v in x] == [1.414213562373, -0.707106781187, -0.707106781187]


def test_nearly_zero_is_not_zero() -> None:
    tiny = parse_number("sqrt(10^60+1)-10^30")
    assert exact.sign(tiny) == 1
    assert near(repr(exact.to_float(tiny)), "5e-31", digits=15)
    assert exact.sign(parse_number("10^30-sqrt(10^60+1)")) == -1


def test_infinite_and_lost_values_as_floats() -> None:
    assert exact.to_float(F(10) ** 400) == math.inf
    assert exact.to_float(-(F(10) ** 400)) == -math.inf
    assert exact.to_float(F(1, 10**400)) == 0.0
    assert exact.to_float(parse_number("10^200*sqrt(10^300+1)")) == math.inf


@pytest.mark.parametrize("divisor", [[[F(0)]], [[parse_number("sqrt(8)-2sqrt(2)")]]])
def test_exact_division_by_zero_raises(divisor: list[list[Any]]) -> None:
    arithmetic = Exact()
    for row in ([[0, 1]], [[1, 2]]):
        with pytest.raises(UndefinedError, match="/0 is undefined"):
            arithmetic.divide(arithmetic.array(row), np.array(divisor, dtype=object))
