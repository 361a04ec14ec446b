"""What a diagnosis says of slips, of rows that differ, of blocks and of what it cannot know: sentences and limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lnorm_cli.arithmetic import Float
from lnorm_cli.faults import Diagnosis, diagnose, diagnose_arrays
from lnorm_cli.norm import LAYER, RMS, Spec, trace

X = [1, 5, 2, 7, 3, 8, 4, 13]
TWO = np.array([[1, 5, 2, 7], [3, 8, 4, 13.0]])
FOUR = np.array([[1, 5, 2, 7, 9], [3, 8, 4, 13, 1], [2, 2, 5, 1, 8.0], [7, 1, 3, 3, 0]])


def out(x: Any, spec: Spec = LAYER, **options: Any) -> Any:
    return trace(np.array(x, float), spec, Float(), **options).output


def typed(values: Any, decimals: int = 4) -> str:
    return " ".join(f"{v:.{decimals}f}" for v in np.ravel(values))


def changed(values: Any, changes: dict[Any, float]) -> Any:
    copy = np.array(values)
    for place, value in changes.items():
        copy[place] = value
    return copy


def said(result: Diagnosis) -> tuple[tuple[str, ...], str]:
    return result.faults, " ".join(result.evidence)


# ---- slips


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({0: -0.9}, "y[0]: all others are right."),
        ({0: -0.9, 1: 0.3}, "y[0], y[1]: all others are right."),
        ({1: 0.1031, 2: 0.9277}, "y[1], y[2]: only the sign is wrong."),
        ({2: 0.9277, 3: 1.5}, "y[2], y[3]: all others are right."),
        ({0: -0.9, 1: 0.3, 2: -1.13}, None),  # more than a quarter is no slip
    ],
)
def test_a_quarter_of_the_elements_may_be_slips(changes: dict[int, float], words: str | None) -> None:
    faults, evidence = said(diagnose(X, typed(changed(out(X), changes))))
    assert faults == (() if words is None else ("arithmetic-slip",))
    assert words is None or evidence == words


def test_a_slip_needs_three_numbers_with_two_digits() -> None:
    assert diagnose([1, 4], "-1.00 0.50").faults == ()
    assert diagnose([1, 2, 6], "-0.93 -0.60 1.39").faults == ("arithmetic-slip",)
    assert "arithmetic-slip" not in diagnose([1, 2, 4, 9, 3], "-1 -1 9 2 -0").faults


def test_slips_in_an_array_are_named_by_row_and_column_the_first_six() -> None:
    right = out(TWO)
    assert said(diagnose_arrays(TWO, changed(right, {(1, 2): 0.5}))) == (
        ("arithmetic-slip",), "y[1, 2]: all others are right.",
    )  # fmt: skip
    x = np.random.default_rng(3).normal(0, 1, (8, 4))
    wrong = changed(out(x), {(row, row % 4): 9.0 for row in range(7)})
    names = "y[0, 0], y[1, 1], y[2, 2], y[3, 3], y[4, 0], y[5, 1]"
    assert said(diagnose_arrays(x, wrong))[1] == f"{names}, ...: all others are right."
    wrong[6] = out(x)[6]
    assert said(diagnose_arrays(x, wrong))[1] == f"{names}: all others are right."


def test_right_values_in_another_order_name_at_most_six_places_and_the_row() -> None:
    result = diagnose(X, typed(out(X)[::-1]))
    assert said(result) == (
        ("wrong-order",),
        ", ".join(f"y[{i}] holds the value of y[{7 - i}]" for i in range(6)) + ", ...",
    )
    assert (result.implied, result.first_step) == (None, "output")
    second = changed(out(TWO), {1: out(TWO)[1][::-1]})
    words = ", ".join(f"y[{i}] holds the value of y[{3 - i}]" for i in range(4))
    assert said(diagnose_arrays(TWO, second)) == (("wrong-order",), f"In row (1,) {words}.")
    swapped = changed(out(X), {0: out(X)[2], 2: out(X)[0]})
    assert said(diagnose(X, typed(swapped)))[0] == ("wrong-order",)


def test_the_values_of_another_step() -> None:
    result = diagnose_arrays(TWO, (TWO - TWO.mean(-1, keepdims=True)) ** 2)
    assert said(result) == (("other-step",), "These are the values of the step squared deviation, not output.")
    assert result.first_step == "squared_deviation"
    assert diagnose_arrays(TWO, TWO * TWO, spec=RMS).first_step == "square"
    assert diagnose(X, typed(X)).first_step == "x"


def test_an_early_slip_beside_a_fault_of_gamma() -> None:
    gamma = ["2", "0.5", "-1", "3", "1.5", "2", "0.5", "1"]
    deviations = np.array(X) - 6.0
    carried = deviations / np.sqrt((deviations**2).mean() + 1e-5)
    faults, evidence = said(diagnose(X, typed(carried, 5), gamma=gamma))
    assert faults == ("gamma-omitted", "carried-forward")
    assert evidence.startswith("With 6 for the mean")
    assert evidence.endswith("everything after it is right; it is 5.375.")
    faults, evidence = said(diagnose(X, typed(carried * np.array(gamma, float), 5), gamma=gamma))
    assert faults == ("carried-forward",)


def test_a_mean_subtracted_wrong_over_the_right_divisor() -> None:
    z = (np.array(X) - 6.0) / np.sqrt(np.var(X) + 1e-5)
    result = diagnose(X, typed(z, 5))
    assert said(result)[0] == ("carried-forward",)
    assert "6 was subtracted instead of the mean 5.375; the divisor is right." in result.evidence
    assert result.first_step == "deviation"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_an_early_slip_in_an_array_of_one_row(dtype: str) -> None:
    x = np.array([1, 2, 4, 9, 3], dtype)
    misread = np.array([1, 2, 4, 8, 3], float)
    given = ((misread - misread.mean()) / np.sqrt(misread.var() + 1e-5)).astype(dtype)
    result = diagnose_arrays(x, given)
    assert (result.faults, result.first_step) == (("carried-forward",), "x")
    assert result.evidence[0] == "As if x[3] were 8 instead of 9."
    deviations = x.astype(float) - 3.8
    deviations[3] = 5.4
    given = (deviations / np.sqrt((deviations**2).mean() + 1e-5)).astype(dtype)
    result = diagnose_arrays(x, given)
    assert (result.faults, result.first_step) == (("carried-forward",), "deviation")
    assert result.evidence[0] == "As if the deviation of x[3] were 5.4 instead of 5.2."


# ---- rows


def test_rows_without_a_common_explanation_are_looked_at_one_by_one() -> None:
    centered = FOUR - FOUR.mean(-1, keepdims=True)
    given = changed(out(FOUR), {
        0: centered[0] / FOUR[0].std(ddof=1), 1: centered[1] ** 2, 2: FOUR[2] / FOUR[2].std(),
        3: np.array([1, 2, 3, 4, 7]),
    })  # fmt: skip
    result = diagnose_arrays(FOUR, given)
    assert result.faults == ()
    assert result.evidence[:4] == (
        "Row (0,): unbiased-variance+epsilon-omitted.", "Row (1,): other-step.",
        "Row (2,): not-centered+epsilon-omitted.", "Row (3,): no known mistake.",
    )  # fmt: skip


@pytest.mark.parametrize("count", [1, 2, 8, 9])
def test_wrong_rows_are_counted_and_named(count: int) -> None:
    x = np.random.default_rng(1).normal(0, 1, (20, 6))
    unbiased = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, ddof=1, keepdims=True) + 1e-5)
    given = np.concatenate([out(x)[:3], unbiased[3 : 3 + count], out(x)[3 + count :]])
    result = diagnose_arrays(x, given)
    places = ", ".join(f"({row},)" for row in range(3, min(3 + count, 11))) + (", ..." if count > 8 else "")
    assert said(result) == (("unbiased-variance",), f"Wrong in {count} of 20 rows: {places}.")


# ---- what cannot be known


def test_an_entry_that_is_no_number_is_said_and_nothing_is_read_into_the_others() -> None:
    result = diagnose([1, 2, 4], "-1.069 nan 1.336")
    assert (result.verdict, result.faults, result.first_step) == ("wrong", (), "")
    assert result.evidence == ("y[1] is no finite number, and no known mistake makes it so.",)
    assert diagnose([1, 2, 4], "-1.336 nan 1.069").verdict == "wrong"


def test_beside_a_row_that_does_not_exist_the_others_are_judged() -> None:
    for last, verdict in (("1.2247", "correct"), ("1.2347", "wrong"), ("nan", "wrong")):
        given = [["nan"] * 3, ["-1.2247", "0", last]]
        assert diagnose([[3, 3, 3], [1, 2, 3]], given, eps=0).verdict == verdict
    assert diagnose([[3, 3, 3], [1, 2, 3]], [["0"] * 3, ["-1.2247", "0", "1.2247"]], eps=0).verdict == "wrong"


def test_one_digit_names_what_gives_just_these_numbers() -> None:
    result = diagnose([2, 4, 4, 6], "-1 0 0 1")
    assert (result.verdict, result.alternatives) == ("undecided", ("variance-not-root",))
    assert result.message == "Undecided. The right answer, and variance-not-root, give these digits alike."
    assert result.notes == ("One digit is too little to judge by: type two or more.",)
    assert len(diagnose([1, 2, 4], "-1 0 1").alternatives) == 5
    assert diagnose([2, 4, 4, 6], "-1.0 0 0 1.0").verdict == "wrong"


# ---- blocks whose sublayer is a multiple


BLOCK = np.array([1.0, 2, 3.5, 6])
MULTIPLE = "F is 2 times x, so the sublayer is read as z -> 2 z."


@pytest.mark.parametrize(
    ("order", "given", "verdict", "faults", "note"),
    [
        ("pre", BLOCK + 2 * out(BLOCK), "correct", (), MULTIPLE),
        ("post", BLOCK + 2 * out(BLOCK), "wrong", ("pre-for-post",), MULTIPLE),
        ("final", BLOCK + 2 * out(BLOCK), "wrong", ("final-norm-omitted",), MULTIPLE),
        ("pre", out(3 * BLOCK), "wrong", ("post-for-pre",), ""),
        ("post", out(3 * BLOCK), "correct", (), ""),
        ("final", out(3 * BLOCK), "correct", (), ""),
        ("pre", BLOCK + 2.5 * out(BLOCK), "wrong", (), ""),
    ],
)
def test_a_sublayer_that_multiplies(order: str, given: Any, verdict: str, faults: tuple[str, ...], note: str) -> None:
    result = diagnose(BLOCK, given, residual=2 * BLOCK, order=order)
    assert (result.verdict, result.faults) == (verdict, faults)
    assert note in (*result.notes, *result.evidence, "")
    assert ("F is 2 times" in str(result)) == bool(note)


def test_a_sublayer_that_multiplies_the_normalized_vector() -> None:
    residual = 2 * out(BLOCK)
    assert diagnose(BLOCK, BLOCK + residual, residual=residual, order="pre").verdict == "correct"
    result = diagnose(BLOCK, out(3 * BLOCK), residual=residual, order="pre")
    assert result.faults == ("post-for-pre",)
    assert "F is 2 times norm(x), so the sublayer is read as z -> 2 z." in result.evidence
    assert "The numbers are norm(x + F(x)); asked for was x + F(norm(x))." in result.evidence
    both = diagnose(BLOCK, BLOCK + residual, residual=residual, order="post")
    assert (both.faults, both.alternatives) == (("pre-for-post",), ("final-norm-omitted",))


def test_with_a_large_epsilon_the_sublayer_of_x_is_told_from_others() -> None:
    """norm(3x) is norm(4x) but for epsilon."""
    for x in (BLOCK, np.array(["1", "2", "3.5", "6"])):
        residual = 2 * out(BLOCK, eps=1)
        for factor, faults in ((3, ("post-for-pre",)), (4, ())):
            given = out(factor * BLOCK, eps=1)
            result = diagnose(x, given, residual=residual, order="pre", eps=1)
            assert "post-for-pre" in result.faults if faults else result.faults != ("post-for-pre",)


@pytest.mark.parametrize(
    ("order", "faults"), [("pre", ("unbiased-variance",)), ("post", ("pre-for-post", "unbiased-variance"))]
)
def test_a_fault_of_the_norm_inside_a_block_whose_sublayer_multiplies(order: str, faults: tuple[str, ...]) -> None:
    given = BLOCK + 2 * (BLOCK - BLOCK.mean()) / np.sqrt(BLOCK.var(ddof=1) + 1e-5)
    result = diagnose(BLOCK, given, residual=2 * BLOCK, order=order)
    assert (result.verdict, result.faults) == ("wrong", faults)
    assert "The numbers are x + F(norm(x)), with that norm." in result.evidence


# ---- long typed lists, single steps


@pytest.mark.parametrize(("spec", "step"), [(LAYER, "mean"), (RMS, "mean_square")])
def test_the_first_step_that_differs_where_other_elements_were_counted(spec: Spec, step: str) -> None:
    padded = out(FOUR, Spec(numerator=spec.numerator, spread=spec.spread, pool="padded", padding=2))
    result = diagnose_arrays(FOUR, padded, spec=spec)
    assert (result.faults, result.first_step) == (("padding-counted",), step)


@pytest.mark.parametrize(("eps", "named"), [("0.0073", True), ("0.0099", True), ("0.0153", False), ("0.02", True)])
def test_epsilons_up_to_a_hundredth_need_not_be_round(eps: str, named: bool) -> None:
    texts = ["0.1", "0.2", "0.4", "-0.3"]
    found = diagnose(texts, typed(out([float(text) for text in texts], eps=float(eps)), 8))
    assert ("epsilon-value" in found.faults) is named


def test_long_typed_lists_are_compared_in_floating_point() -> None:
    x = np.random.default_rng(4).normal(0, 1, 1600).round(3)
    texts = np.array([f"{v:.3f}" for v in x])
    for ddof, verdict, faults in ((0, "correct", ()), (1, "wrong", ("unbiased-variance",))):
        y = (x - x.mean()) / np.sqrt(x.var(ddof=ddof) + 1e-5)
        result = diagnose(texts, " ".join(f"{v:.5e}" for v in y))
        assert (result.verdict, result.faults) == (verdict, faults)
        assert "in exact arithmetic" not in result.tolerance


def test_x_itself_is_no_step_of_a_single_step() -> None:
    result = diagnose([1, 2, 6], [["1", "2", "6"]], step="deviation")
    assert (result.verdict, result.faults) == ("wrong", ())
    squared = diagnose([1, 2, 6], [["4", "1", "9"]], step="deviation")
    assert (squared.faults, squared.first_step) == (("other-step",), "squared_deviation")
