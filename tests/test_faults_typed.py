"""What the diagnosis makes of typed numbers: their digits, rounding on the way, and the work that they imply."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from lnorm_cli.errors import UndefinedError
from lnorm_cli.faults import diagnose, wrong_spec
from lnorm_cli.faults.search import levels
from lnorm_cli.faults.words import apart
from lnorm_cli.norm import LAYER, RMS, trace

X, GAMMA, BETA = [1, 2, 4, 9, 3], ["0.5", "1.5", "-1", "2", "0.8"], ["1", "-0.5", "0.25", "2", "-1"]


def told(x: Any, given: Any, **options: Any) -> tuple[str, tuple[str, ...]]:
    result = diagnose(x, given, **options)
    return result.verdict, result.faults


# ---- digits


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ("-1.5 -0.5 0.5 1.5", "wrong"),
        ("-1.3 -0.4 0.4 1.3", "correct"),
        ("-1.34 -0.447 0.4472 1.34164", "correct"),
        ("-1.341 -0.4472 0.4472 1.341", "rounded"),  # cut off
        ("-1.34164 -0.44721 0.44721 1.34163", "wrong"),
        ("-1 0 0 1", "undecided"),
        ("-1.343 -0.447 0.447 1.342", "wrong"),
    ],
)
def test_typed_numbers_count_at_their_digits(given: str, verdict: str) -> None:
    """Right are -1.341640786, -0.447213595 and their negatives."""
    assert diagnose([1, 2, 3, 4], given, eps=0).verdict == verdict


@pytest.mark.parametrize(
    ("value", "given", "right"),
    [
        ("0.25", "0.25", True),
        ("0.25", "0.3", True),  # the limit itself
        ("0.25", "0.2", True),  # and the other one
        ("0.25", "0.26", False),
        ("0.2500001", "0.2", False),
        ("1/7", "0.1429", True),
        ("1/7", "0.142857", True),
        ("1/7", "0.1430", False),
        ("1270", "1270", True),
        ("1267.9", "1268", True),
        ("1267.9", "1267", False),
    ],
)
def test_limits_are_included_in_exact_decimals(value: str, given: str, right: bool) -> None:
    from lnorm_cli.exact import approximate
    from lnorm_cli.faults.answer import typed_number
    from lnorm_cli.faults.problem import within
    from lnorm_cli.reading import parse_number

    number = typed_number(given)
    assert within(approximate(number.value), approximate(parse_number(value)), number.half, Fraction(0)) is right


def test_a_product_of_rounded_factors_is_rounded() -> None:
    """Normalized -1.265 times 1.5 is -1.898; exactly it is -1.897."""
    found = False
    for n in range(2, 60):
        x = [0, 1, 1, n]
        values = trace(np.array(x, float), arithmetic=_float(), eps=0)["normalized"].value[0]
        given = " ".join(f"{1.5 * round(v, 3) + 1e-12 * np.sign(v):.3f}" for v in values)
        if any(abs(float(text) - 1.5 * v) > 5.1e-4 for text, v in zip(given.split(), values, strict=True)):
            found = True
            result = diagnose(x, given, gamma="1.5", eps=0)
            assert (result.verdict, result.faults) == ("rounded", ("rounded-intermediate",)), (x, given, result)
    assert found


def _float() -> Any:
    from lnorm_cli.arithmetic import Float

    return Float()


def test_working_with_too_few_digits_is_named() -> None:
    """The root kept as 1.4 of 1.41421, the answer typed with five digits."""
    result = diagnose([2, 4, 4, 6], "-1.4286 0 0 1.4286", eps=0)
    assert result.verdict == "wrong"
    assert "rounded-intermediate" in result.faults
    assert "the root" in result.evidence[0]


def test_one_digit_cannot_tell_and_say_so() -> None:
    result = diagnose([1, 2, 3, 4], "-1 0 0 1", eps=0)
    assert result.verdict == "undecided"
    assert "unbiased-variance" in result.alternatives


def test_eight_digits_of_float32_cannot_tell_a_tiny_epsilon_from_none() -> None:
    """Typed exactly, epsilon was left out; as float32 output the numbers are right: both are said."""
    result = diagnose([1, 2, 4], "-1.0690450 -0.26726124 1.3363062", eps="1e-7")
    assert result.verdict == "undecided"
    assert "epsilon-omitted" in result.alternatives
    assert told([1, 2, 4], "-1.06904497 -0.267261242 1.33630621", eps="1e-3") == ("wrong", ("epsilon-omitted",))


def test_zeros_that_only_hold_the_place() -> None:
    """Three digits of 1267.9 are 1270."""
    options: dict[str, Any] = {"gamma": ["0.5", "1", "1.5", "2"], "beta": ["1", "-0.75", "0.25", "3"]}
    assert told([2, 4, 4, 6], "-315 -0.750 0.250 1270", **options) == ("wrong", ("variance-dropped",))
    assert "variance-dropped" not in diagnose([2, 4, 4, 6], "-315 -0.750 0.250 1280", **options).faults


def test_float_output_pasted_as_text_is_right() -> None:
    x = np.array([0.1, 0.2, 0.4, 0.8], np.float32)
    y = (x - x.mean()) / np.sqrt(x.var() + np.float32(1e-5))
    for text in (" ".join(map(str, y)), " ".join(repr(float(v)) for v in y)):
        assert diagnose(["0.1", "0.2", "0.4", "0.8"], text).verdict == "correct"


def test_exact_answers() -> None:
    assert told([2, 4, 4, 6], "-sqrt(2) 0 0 sqrt(2)", eps=0) == ("correct", ())
    assert told([2, 4, 4, 6], "-sqrt(3/2) 0 0 sqrt(3/2)", eps=0) == ("wrong", ("unbiased-variance",))
    assert told([2, 4, 4, 6], "-sqrt(2) 0 0 sqrt(2)", eps="1e-5") == ("wrong", ("epsilon-omitted",))
    unstated = diagnose([2, 4, 4, 6], "-sqrt(2) 0 0 sqrt(2)")
    assert unstated.verdict == "correct"
    assert "epsilon 0" in unstated.notes[0]


# ---- inference


def normalized(deviations: np.ndarray[Any, Any], divisor: float | None = None) -> str:
    root = np.sqrt(np.mean(deviations**2) + 1e-5) if divisor is None else divisor
    z = deviations / root * np.array(GAMMA, float) + np.array(BETA, float)
    return " ".join(f"{v:.5f}" for v in z)


def test_one_early_number_wrong_and_the_rest_right_from_there() -> None:
    x = np.array(X, float)
    d = x - x.mean()
    slipped = d.copy()
    slipped[3] = 5.4
    misread = np.array([1, 2, 4, 8, 3], float)
    for given, step, words in (
        (normalized(x - 3.5), "mean", "With 3.5 for the mean"),
        (normalized(d, np.sqrt(7.0)), "variance", "standard deviation of 2.64575"),
        (normalized(slipped), "deviation", "deviation of x[3] were 5.4 instead of 5.2"),
        (normalized(misread - misread.mean()), "x", "As if x[3] were 8 instead of 9"),
    ):
        result = diagnose(X, given, gamma=GAMMA, beta=BETA)
        assert (result.verdict, result.faults, result.first_step) == ("wrong", ("carried-forward",), step)
        assert words in " ".join(result.evidence)


def test_the_answer_fixes_mean_and_standard_deviation() -> None:
    result = diagnose([2, 4, 4, 6], "-1.2247 0 0 1.2247")
    assert result.implied is not None
    assert result.right is not None
    assert result.implied["mean"] == pytest.approx(4, abs=1e-4)
    assert result.implied["standard_deviation"] == pytest.approx(1.632993, abs=1e-3)
    assert result.right["standard_deviation"] == pytest.approx(1.414217, abs=1e-6)
    assert result.first_step == "variance"
    assert "Divide by n" in result.mend


def test_nothing_known_is_never_a_guess() -> None:
    result = diagnose([1, 5, 2, 7, 3, 8, 4, 13], "1.1 2.2 3.3 -4.4 5.5 6.6 -7.7 8.8")
    assert (result.verdict, result.faults, result.alternatives) == ("wrong", (), ())
    assert result.first_step == "normalized"
    assert "No one mean and standard deviation" in result.evidence[0]
    other = diagnose([1, 2, 4, 9, 3], " ".join(f"{(v - 3.1) / 2.2:.6f}" for v in (1, 2, 4, 9, 3)))
    assert (other.verdict, other.faults) == ("wrong", ())
    assert other.implied is not None
    assert other.implied["mean"] == pytest.approx(3.1, abs=1e-4)
    assert other.implied["standard_deviation"] == pytest.approx(2.2, abs=1e-4)


STOPPED = [
    ("3 5 2 6", "-1.000 1.000 -2.000 2.000", "features-dropped"),
    ("3 5 2 6", "-1 1 -2 2", "features-dropped"),
    ("2 4 4 6", "-2 0 0 2", "mean-absolute-deviation"),
    ("2 4 1 3", "-0.5 1.5 -1.5 0.5", "mean-absolute-deviation"),
    ("1 2 6", "-2 -1 3", "one-plus-gamma"),
    ("1 2 6 7", "-3.00 -2.00 2.00 3.00", ""),
]


@pytest.mark.parametrize(("x", "given", "also"), STOPPED)
def test_the_deviations_as_the_answer(x: str, given: str, also: str) -> None:
    """The division forgotten is likelier than a rarer mistake that happens to give the same numbers."""
    result = diagnose(x.split(), given)
    assert (result.verdict, result.faults) == ("wrong", ("other-step",))
    assert not also or also in result.alternatives


def test_an_epsilon_of_one_digit_is_recognized_at_any_size() -> None:
    result = diagnose(["3", "5", "2", "6"], "-0.535 0.535 -1.069 1.069")
    assert result.faults == ("epsilon-value",)
    assert "epsilon 1;" in result.evidence[0]


def test_a_gamma_of_ones_explains_no_pairs() -> None:
    assert "one-plus-gamma" not in diagnose(["2", "4", "4", "6"], "-1.633 0 0 1.633").faults


def test_an_exact_answer_without_epsilon_and_another_mistake() -> None:
    result = diagnose(["2", "4", "4", "6"], "sqrt(2) 0 0 -sqrt(2)")
    assert (result.verdict, result.faults, result.first_step) == ("wrong", ("sign-flipped",), "normalized")


@pytest.mark.parametrize(
    ("eps", "words"), [("1e-3", "Keras"), ("1e-6", "Flax"), ("1e-12", "BERT"), ("3e-4", "0.0003"), ("2e-5", "2e-5")]
)
def test_another_epsilon_is_recovered(eps: str, words: str) -> None:
    x = np.array([0.01, 0.02, 0.04, -0.03])
    y = (x - x.mean()) / np.sqrt(x.var() + float(eps))
    result = diagnose(["0.01", "0.02", "0.04", "-0.03"], " ".join(f"{v:.10f}" for v in y))
    assert (result.verdict, result.faults) == ("wrong", ("epsilon-value",))
    assert words in " ".join(result.evidence)


def test_slips_in_single_elements() -> None:
    right = ["-1.0051", "-0.6462", "0.0718", "1.8667", "-0.2872"]
    for place, value, words in ((2, "0.7180", "y[2]"), (3, "-1.8667", "only the sign is wrong")):
        given = [*right[:place], value, *right[place + 1 :]]
        result = diagnose(X, " ".join(given))
        assert (result.verdict, result.faults) == ("wrong", ("arithmetic-slip",))
        assert words in result.evidence[0]


def test_signs_and_other_steps() -> None:
    assert told(X, "1.0051 0.6462 -0.0718 -1.8667 0.2872") == ("wrong", ("sign-flipped",))
    assert told(X, "-2.8 -1.8 0.2 5.2 -0.8") == ("wrong", ("other-step",))
    assert told(X, "7.84 3.24 0.04 27.04 0.64") == ("wrong", ("other-step",))
    assert told([1, 2, 3, 4], "-0.3651 -0.7303 -1.0954 -1.4606", spec=RMS) == ("wrong", ("sign-flipped",))


@pytest.mark.parametrize(
    ("step", "given", "verdict", "faults"),
    [
        ("mean", "3.8", "correct", ()),
        ("variance", "7.76", "correct", ()),
        ("variance", "9.7", "wrong", ("unbiased-variance",)),
        ("variance", "38.8", "wrong", ("sum-not-mean",)),
        ("standard_deviation", "2.786", "correct", ()),
        ("standard_deviation", "7.76", "wrong", ("other-step",)),
        ("standard_deviation", "3.114", "wrong", ("unbiased-variance",)),
        ("mean", "4.1", "wrong", ()),
    ],
)
def test_answers_to_single_steps(step: str, given: str, verdict: str, faults: tuple[str, ...]) -> None:
    result = diagnose(X, [[given]], step=step, eps=0)
    assert (result.verdict, result.faults) == (verdict, faults)


def test_two_explanations_are_both_given_with_an_input_that_tells() -> None:
    result = diagnose([1, 0, 0, 0], "1.499997000006 -0.499999000002 -0.499999000002 -0.499999000002", eps="1e-6")
    assert result.faults == ("unbiased-variance", "epsilon-outside-root")
    assert result.alternatives == ("second-moment+epsilon-outside-root",)
    x = result.tell_apart.removeprefix("x = ").split()
    outputs = [
        trace(x, wrong_spec(ids), _float(), eps=1e-6).output
        for ids in (("unbiased-variance", "epsilon-outside-root"), ("second-moment", "epsilon-outside-root"))
    ]
    assert np.abs(outputs[0] - outputs[1]).max() > 0.01


def test_what_an_input_hides_is_said_for_a_right_answer() -> None:
    (note,) = diagnose([-1, 1], "-1 1", eps=0).notes
    assert "mean 0, variance 1" in note
    assert "variance-not-root" in note
    assert "not-centered" in note
    assert diagnose([1, 2, 4, 9], "-0.9733 -0.6489 0.0000 1.6222").notes[0].startswith("Epsilon does not show")


def test_an_undefined_right_answer_is_explained() -> None:
    with pytest.raises(UndefinedError, match="0/0"):
        diagnose([3, 3, 3], "0 0 0", eps=0)
    assert diagnose([[3, 3, 3], [1, 2, 3]], [["nan"] * 3, ["-1.2247", "0", "1.2247"]], eps=0).verdict == "correct"


# ---- form


def test_levels_are_worked_out_once() -> None:
    from lnorm_cli.faults.answer import make_answer
    from lnorm_cli.faults.problem import make_problem

    problem = make_problem(X, make_answer("1 2 3 4 5", None), 1, 0, Fraction(1, 10**5), LAYER)
    first = list(levels(problem, 2))
    assert all(one is other for one, other in zip(first, levels(problem, 2), strict=True))


def test_two_numbers_are_shown_with_the_digits_that_tell_them_apart() -> None:
    assert apart(-1.264911064, -1.2649082) == ("-1.264911", "-1.264908")
    assert apart(2.0, 3.0) == ("2", "3")
    assert apart(math.nan, 1.0) == ("nan", "1")
