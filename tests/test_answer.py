"""What a typed number stands for, which type a list of them shows, and work that is rounded on the way."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from lnorm_cli.arithmetic import Float
from lnorm_cli.errors import InputError
from lnorm_cli.faults.answer import Typed, from_exact, make_answer, typed_number
from lnorm_cli.faults.rounding import ALL, HABITS, TIES, Habit, Rounded, habits, truncated, usual_habits
from lnorm_cli.faults.roundings import _reach as reach
from lnorm_cli.norm import LAYER, trace

F = Fraction

TYPED = [
    ("0.53", "0.53", "0.005", False, 2), ("1.2e-9", "1.2e-9", "5e-11", False, 2), ("12", "12", "0.5", True, 2),
    ("1e3", "1000", "500", False, 1), ("1E+2", "100", "50", False, 1), ("5.", "5", "0.5", False, 1),
    (".5", "0.5", "0.05", False, 1), ("-0.0", "0", "0.05", False, 0), ("0.1e-2", "0.001", "0.0005", False, 1),
    ("\u22121.50", "-1.5", "0.005", False, 3), ("+007", "7", "0.5", True, 1), ("1/2", "1/2", "0", False, 0),
    ("6/2", "3", "0.5", True, 1), ("2^3", "8", "0.5", True, 1), ("3*0.1", "0.3", "0", False, 0),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value", "half", "whole", "digits"), TYPED, ids=[t[0] for t in TYPED])
def test_a_typed_number_counts_at_its_last_digit(text: str, value: str, half: str, whole: bool, digits: int) -> None:
    assert typed_number(text) == Typed(F(value), F(half), whole, digits)
    assert typed_number(text).finite


def test_what_is_no_finite_number_is_taken_as_it_is() -> None:
    assert math.isnan(float(typed_number("nan").value))  # type: ignore[arg-type]
    for text, value in (("inf", math.inf), ("+Infinity", math.inf), ("-inf", -math.inf), ("\u2212inf", -math.inf)):
        assert typed_number(text).value == value
        assert not typed_number(text).finite


EXACT = [
    ("1/4", "0.005", False, 2), ("1/8", "0.0005", False, 3), ("-12/5", "0.05", False, 2), ("7", "0.5", True, 1),
    ("-120", "0.5", True, 3), ("0", "0.5", True, 0), ("1/3", "0", False, 0), ("1/11", "0", False, 0),
    ("1/22", "0", False, 0), ("1/7", "0", False, 0), (f"3/{2**40}", "5e-41", False, 29), (f"3/{2**41}", "0", False, 0),
]  # fmt: skip


@pytest.mark.parametrize(("value", "half", "whole", "digits"), EXACT, ids=[e[0] for e in EXACT])
def test_a_value_without_text_counts_at_its_decimals(value: str, half: str, whole: bool, digits: int) -> None:
    assert from_exact(F(value)) == Typed(F(value), F(half), whole, digits)


LISTS = [
    ("-1.34 0 0 1.34", "0.005 0.005 0.005 0.005"),  # a lone digit counts like its neighbours
    ("-1.3 0 1.345", "0.05 0.05 0.0005"),  # like the coarsest of them
    ("-1.3 12 0.1", "0.05 0.5 0.05"),
    ("2 4 0", "0.5 0.5 0.5"),
    ("0 0 0", "0 0 0"),
    ("0.0 0 0.00", "0 0 0"),
    ("-sqrt(2) 0 0 sqrt(2)", "0 0 0 0"),
    ("-0.75 0.25 1.27 1270", "0.005 0.005 0.005 5"),  # its zero only holds the place
    ("-0.75 0.25 1.27 1275", "0.005 0.005 0.005 0.5"),
    ("1.2 1200", "0.05 50"),
    ("1.27 127", "0.005 0.5"),
    ("1/3 1270", "0 0.5"),
    ("nan 1.5", "0 0.05"),
]


@pytest.mark.parametrize(("given", "halves"), LISTS, ids=[given for given, _ in LISTS])
def test_numbers_of_a_list_count_at_their_digits_and_their_neighbours(given: str, halves: str) -> None:
    answer = make_answer(given, None)
    assert answer.half is not None
    assert answer.half.tolist() == [F(half) for half in halves.split()]
    assert answer.typed


def test_zeros_beside_roots_are_exact() -> None:
    from lnorm_cli.faults import diagnose

    assert diagnose([1, 2, 3, 4], "-3sqrt(5)/5 0 0 3sqrt(5)/5", eps=0).verdict == "wrong"
    assert diagnose([1, 2, 3, 4], "-3sqrt(5)/5 -sqrt(5)/5 sqrt(5)/5 3sqrt(5)/5", eps=0).verdict == "correct"


DTYPES = [
    ("0.333 1.5", ""), ("0.333333", ""), ("0.3333333 2", "float32"), ("0.333333333", "float32"),
    ("0.3333333333", "float64"), ("0.3333333333333333", "float64"), ("0.3333333432674408", "float32"),
    ("0.333251953125", "float16"), ("0.33325195", "float32"), ("0.333984375 -1.5", "bfloat16"), ("1.0625", "bfloat16"),
    ("1.125", ""), ("1.00048828125", "float32"), ("sqrt(2) 1", ""), ("1/3 1", ""), ("1 2", ""),
]  # fmt: skip


@pytest.mark.parametrize(("given", "dtype"), DTYPES, ids=[given for given, _ in DTYPES])
def test_digits_show_the_type_that_they_came_out_of(given: str, dtype: str) -> None:
    assert make_answer(given, None).plausible_dtype() == dtype


def test_an_array_has_its_own_type_and_no_other() -> None:
    assert make_answer(np.array([0.5, 0.25]), None).plausible_dtype() == ""
    for given, dtype in (
        (np.array([1 / 3]), "float64"), (np.array([np.float32(1 / 3)], np.float64), "float32"),
        (np.array([0.5]), "float64"), (np.array([1 / 3], np.float16), "float16"),
        (np.array([np.nan, np.float32(1 / 3)], np.float64), "float32"),
    ):  # fmt: skip
        assert make_answer(given, None).dtype == dtype


def test_at_a_floating_point_type_whole_numbers_are_exact() -> None:
    half = make_answer("12 0.5", None).at("float32").half
    assert half is not None
    assert half.tolist() == [0, F(1, 20)]


def test_a_term_and_a_factor_are_taken_off() -> None:
    answer = make_answer("1.5 3.25", None).less(np.array([F(1), F(2)], dtype=object), F(-2))
    assert answer.exact is not None
    assert answer.half is not None
    assert answer.exact.tolist() == [F(-1, 4), F(-5, 8)]
    assert answer.values.tolist() == [-0.25, -0.625]
    assert answer.half.tolist() == [F(1, 40), F(1, 400)]


# ---- rounding on the way


def kept(habit: Habit, value: str) -> Fraction:
    """A sum as someone with that habit writes it down."""
    zero = np.array([[F(0)]], dtype=object)
    result: Fraction = Rounded(habit).add(np.array([[F(value)]], dtype=object), zero)[0, 0]
    return result


ROUNDED = [
    ("0.125", 2, False, "0.13 0.12 0.12"), ("-0.125", 2, False, "-0.13 -0.12 -0.12"),
    ("0.135", 2, False, "0.14 0.14 0.14"), ("0.145", 2, False, "0.15 0.14 0.14"),
    ("0.115", 2, False, "0.12 0.12 0.12"), ("1250", -2, False, "1300 1200 1200"),
    ("0.1251", 2, False, "0.13 0.13 0.13"), ("2.5", 0, False, "3 2 2"), ("0.004", 2, False, "0 0 0"),
    ("1.0051", 3, True, "1.01 1.01 1.01"), ("123.45", 2, True, "120 120 120"),
    ("0.0012345", 2, True, "0.0012 0.0012 0.0012"),
    ("0.45", 1, True, "0.5 0.4 0.5"), ("99.5", 2, True, "100 100 100"), ("100", 3, True, "100 100 100"),
    ("10.05", 3, True, "10.1 10 10.1"), ("0.1", 1, True, "0.1 0.1 0.1"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "digits", "significant", "results"), ROUNDED, ids=[r[0] for r in ROUNDED])
def test_where_a_5_at_the_end_goes(value: str, digits: int, significant: bool, results: str) -> None:
    """Up as taught, to the even digit, or as Python's round does: the last column was made with it."""
    found = [kept(Habit(ALL, digits, significant, ties), value) for ties in ("up", "even", "float")]
    assert found == [F(text) for text in results.split()]
    if not significant:
        assert found[2] == F(str(round(float(value), digits)))
    assert kept(Habit(ALL - {"add"}, digits, significant, "up"), value) == F(value)


def test_a_calculation_with_two_decimals_at_every_step() -> None:
    steps = trace(["1", "2", "4"], LAYER, Rounded(Habit(ALL, 2, False, "up")), gamma="1.5", beta="0.125", eps=0)
    by_hand = {
        "mean": "2.33", "deviation": "-1.33 -0.33 1.67", "squared_deviation": "1.77 0.11 2.79", "variance": "1.56",
        "standard_deviation": "1.25", "normalized": "-1.06 -0.26 1.34", "scaled": "-1.59 -0.39 2.01",
        "output": "-1.47 -0.27 2.14",
    }  # fmt: skip
    for name, values in by_hand.items():
        assert steps[name].value[0].tolist() == [F(v) for v in values.split()], name


@pytest.mark.parametrize(
    ("kinds", "values"),
    [({"statistic"}, [2.3, 1.6, 1.6**0.5]), ({"statistic", "root"}, [2.3, 1.6, 1.3]),
     ({"root"}, [7 / 3, 14 / 9, 1.2]), ({"quotient", "multiply"}, [7 / 3, 4.7 / 3, (4.7 / 3) ** 0.5])],
)  # fmt: skip
def test_only_what_the_habit_names_is_rounded(kinds: set[str], values: list[float]) -> None:
    """Mean, variance and root of 1, 2, 4 with one decimal; of rounded squares 1.8 0.1 2.8."""
    steps = trace(["1", "2", "4"], LAYER, Rounded(Habit(frozenset(kinds), 1, False, "up")), eps=0)
    found = [float(steps[name].value[0][0]) for name in ("mean", "variance", "standard_deviation")]
    assert found == pytest.approx(values, rel=1e-12)


def test_a_habit_in_words() -> None:
    assert Habit(ALL, 3, False, "up").words == "3 decimals at every step"
    assert Habit(frozenset({"root"}), 1, True, "up").words == "1 significant digit at the root"
    some = Habit(frozenset({"quotient", "statistic"}), 1, False, "up")
    assert some.words == "1 decimal at mean and variance, the normalized values"


def test_likely_habits_come_first_and_none_keeps_less_than_nothing() -> None:
    tried = list(habits(2, 3))
    assert tried[0] == Habit(ALL, 2, False, "up")
    assert tried[1] == Habit(ALL, 3, True, "up")
    assert min(h.digits for h in tried if not h.significant) == 0
    assert min(h.digits for h in tried if h.significant) == 1
    assert max(h.digits for h in tried if not h.significant) == 4
    assert {h.digits for h in habits(8, 9) if not h.significant} == set(range(1, 11))
    assert {h.digits for h in habits(8, 9) if h.significant} == set(range(2, 12))
    assert len({h.kinds for h in tried}) == 2 ** len(ALL)  # all choices of them, and the reciprocal
    usual = list(usual_habits(2, 3))
    assert len(usual) == len(set(usual)) == 40
    assert {h.ties for h in usual} == {"up", "even"}
    assert {(h.digits, h.significant) for h in usual} == {(2, False), (3, False), (3, True), (4, True)}


@pytest.mark.parametrize(
    ("given", "value", "cut"),
    [("1.41", "1.414", True), ("1.41", "1.41", True), ("1.41", "1.42", False), ("1.41", "1.4199", True),
     ("-1.41", "-1.414", True), ("-1.41", "1.414", False), ("1.42", "1.414", False), ("0", "0.004", True),
     ("0.01", "-0.014", False)],
)  # fmt: skip
def test_digits_cut_off(given: str, value: str, cut: bool) -> None:
    assert truncated(F(given), F(value), F(1, 200)) is cut


@pytest.mark.parametrize("given", ["1.4286", "1.4184", "1.4144", "1.41423", "1.41844", "1.414217125"])
def test_a_root_kept_with_few_digits(given: str) -> None:
    """2 over 1.4, 1.41, 1.414, 1.4142 and 1.41421, given with more digits than these bear."""
    from lnorm_cli.faults import diagnose

    result: Any = diagnose([2, 4, 4, 6], f"-{given} 0 0 {given}", eps=0)
    assert (result.verdict, result.faults) == ("wrong", ("rounded-intermediate",))
    assert "at the root" in result.evidence[0]


@pytest.mark.parametrize("significant", [False, True])
def test_no_rounding_on_the_way_goes_further_than_its_bound(significant: bool) -> None:
    """The bound decides whether a habit is worth trying, so one that is too small would hide rounding."""
    chance = random.Random(7)
    largest = 0.0
    for _ in range(150):
        n = chance.randint(3, 6)
        x = [F(chance.randint(-90, 200), 10) for _ in range(n)]
        gamma, beta = ([F(chance.randint(-30, 30), 10) for _ in range(n)] for _ in range(2))
        habit = Habit(
            chance.choice([ALL, *HABITS]), chance.randint(1, 4) + significant, significant, chance.choice(TIES)
        )
        options: dict[str, Any] = {"gamma": gamma, "beta": beta, "eps": F(1, 1000)}
        try:
            rounded = trace(x, LAYER, Rounded(habit), **options).output.astype(float)
        except (InputError, ZeroDivisionError):
            continue
        exactly = trace(x, LAYER, Float(), **options)
        off, bound = np.abs(rounded - exactly.output), reach(exactly, habit.digits, significant)[0]
        assert (off <= bound * (1 + 1e-9)).all(), (x, habit)
        largest = max(largest, float((off[bound > 0] / bound[bound > 0]).max()))
    assert largest > 0.1  # and it is no bound that lets everything pass


def test_a_rounded_root_moves_an_outlier_furthest() -> None:
    habit = Habit(frozenset({"root"}), 3, False, "up")
    for top in range(5, 25):
        x, options = [F(0)] * 59 + [F(top)], {"gamma": F(50), "eps": F(0)}
        exactly = trace(x, LAYER, Float(), **options)
        off = np.abs(trace(x, LAYER, Rounded(habit), **options).output.astype(float) - exactly.output)
        assert (off <= reach(exactly, 3, False)[0]).all()
