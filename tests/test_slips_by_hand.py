"""Slips of people with pencil and paper: what is said of each, and what is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lnorm_cli.faults import Diagnosis, diagnose, diagnose_arrays
from lnorm_cli.faults.words import apart
from lnorm_cli.norm import RMS
from lnorm_cli.reading import parse_vector


def said(x: str, given: str, gamma: str = "1", beta: str = "0", eps: str | None = "0") -> Diagnosis:
    epsilon = None if eps is None else parse_vector(eps)[0]
    return diagnose(parse_vector(x), given, gamma=parse_vector(gamma), beta=parse_vector(beta), eps=epsilon)


@pytest.mark.parametrize(
    ("x", "gamma", "beta", "given"),
    [
        ("3 5 2 6", "2", "0", "-2 2 -4 4"),
        ("3 5 2 6", "1", "1", "0 2 -1 3"),
        ("1 3 5", "2", "0", "-4 0 4"),
        ("2 4 4 6", "3", "0", "-6 0 0 6"),
        ("1 2 4", "2 0.5 3", "1 -1 0.5", "-1.667 -1.167 5.500"),
        ("4 1 7", "2 1 3", "1", "1 -2 10"),
    ],
)
def test_deviations_that_were_never_divided(x: str, gamma: str, beta: str, given: str) -> None:
    assert said(x, given, gamma, beta).faults == ("division-omitted",)


def test_the_bare_deviations_are_another_step_and_both_readings_are_named() -> None:
    assert said("2 4 4 6", "-2 0 0 2").faults == ("other-step",)
    both = said("1 2 3", "-1.00 0 1.00")
    assert both.faults == ("unbiased-variance",)
    assert "division-omitted" in both.alternatives


@pytest.mark.parametrize(
    "given",
    [
        "0.542255 -0.094841 2.294526 -1.592075 0.410328",  # 7 to 18 units of the last digit off, four times float32
        "0.542248 -0.094832 2.294523 -1.592194 0.410336",
    ],
)
def test_typed_decimals_that_no_program_gives_are_wrong(given: str) -> None:
    found = said("12.5 11 14.2 9.3 13", given, "1.5 0.5 2 1 -1", "0.1 0.2 -0.3 0 1", None)
    assert found.verdict == "wrong"


def test_all_others_are_right_only_where_they_are() -> None:
    found = said("12.5 11 14.2 9.3 13", "0.294817 -0.589668 1.297303 -1.592031 0.589663")
    assert found.faults == ()
    assert "all others" not in " ".join(found.evidence)
    found = said("7 -3 4 10 1", "0.705730 -1.499676 0.044108 1.467351 -0.617514")
    assert (found.faults, found.evidence) == (("arithmetic-slip",), ("y[3]: all others are right.",))
    found = said("2 4 4 7 9", "-1.3106 -0.8 -0.3 0.7 1.5075", eps="0")
    assert "Right as they stand: y[3]." in found.evidence


@pytest.mark.parametrize(
    ("x", "given"),
    [("1 2 3", "-1.225 0 1.224"), ("1 2 3", "-1.2247 0 1.224"), ("7 -3 4 10 1", "0.70 -1.50 0.04 1.36 -0.62")],
)
def test_one_number_cut_off_among_rounded_ones_is_rounding(x: str, given: str) -> None:
    assert said(x, given).verdict == "rounded"


def test_a_root_rounded_early_shows_behind_nine_digits() -> None:
    given = "-0.877192982 1.461988304 0.292397661 -0.292397661 -1.461988304 0.877192982"
    found = said("4 8 6 5 3 7", given, eps=None)
    assert found.faults == ("rounded-intermediate",)
    assert "2 decimals at the root" in found.evidence[0]


def test_the_textbook_answer_in_decimals_is_told_how_it_is_right() -> None:
    found = said("2 4 4 6", "-1.414213562 0 0 1.414213562", eps=None)
    assert found.faults == ("epsilon-omitted",)
    assert "With epsilon 0 it is right: --eps 0 asks for that." in found.notes
    assert said("2 4 4 6", "-1.414213562 0 0 1.414213562").verdict == "correct"


def test_numbers_that_differ_are_shown_with_equally_many_digits() -> None:
    assert apart(-1.414213562, -1.414210026) == ("-1.414214", "-1.414210")
    assert apart(0.5, 0.5) == ("0.5", "0.5")
    assert apart(1.0, 1.0 + 2**-52) == ("1.0000000000000000", "1.0000000000000002")


def test_three_features_are_enough_for_a_wrong_mean() -> None:
    found = said("1 2 4", "-1.5820 -1.2582 3.5984", "2 0.5 3", "1 -1 0.5")
    assert found.faults == ("carried-forward",)
    assert "With 2.66667 for the mean, a sum of 8 instead of 7," in found.evidence[0]
    x = np.array([1.0, 2.0, 4.0]) - 3.5  # 7/2
    found = said("1 2 4", " ".join(f"{v:.4f}" for v in x / np.sqrt((x * x).mean())))
    assert found.faults == ("carried-forward",)
    assert "With 3.5 for the mean" in found.evidence[0]


def test_a_wrong_count_under_the_sum_of_squares_is_recognized() -> None:
    found = said("3 5 2 6", "-0.354 0.707 -2.121 2.828", "0.5 1 1.5 2")
    assert found.faults == ("carried-forward",)
    assert "divided by 5 instead of 4" in found.evidence[0]
    assert "variance plus epsilon 2)" in found.evidence[0]
    assert "rounded-intermediate" in found.alternatives


def test_an_epsilon_that_prints_like_the_one_asked_for_is_told_apart() -> None:
    x = np.array([[0.3, -1.2, 2.5, 0.7, 1.9, -0.4]])
    y = (x - x.mean()) / np.sqrt(x.var() + float(np.float32(1e-5)))
    (told,) = diagnose_arrays(x, y).evidence
    fixed, _, asked = told.partition("; ")
    assert asked == "1e-05 was asked for, which in float32 is that."
    assert float(fixed.removeprefix("The answer fixes epsilon ")) == pytest.approx(float(np.float32(1e-5)), rel=1e-9)


def test_of_several_epsilons_the_nearest_is_named_with_its_value() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(0, 1.2, (6, 6, 16)).astype(np.float32)
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    for eps, faults in ((1e-6, ("epsilon-value",)), (0.0, ("epsilon-omitted",))):
        found = diagnose_arrays(x, (x - mean) / np.sqrt(variance + np.float32(eps)))
        assert found.faults == faults
        assert ("1e-6" in " ".join(found.evidence[:1])) == (eps > 0)
    given: Any = "-0.6324555 0.6324555 -1.2649111 1.2649111"
    assert "1e-12" in " ".join(said("3 5 2 6", given, eps=None).evidence)


def test_a_last_digit_that_is_off_may_be_a_slip_whatever_else_fits() -> None:
    found = said("1 2 3 4", "-1.3416 -0.4472 0.4472 1.3417", eps=None)
    assert found.faults == ("epsilon-after-division",)
    assert "arithmetic-slip" in found.alternatives
    assert "arithmetic-slip" not in said("2 4 4 6", "-1.2247 0 0 1.2247").alternatives


def test_rows_with_slips_of_their_own_are_told_one_by_one() -> None:
    x = np.array([[1.0, 2, 4, 7], [3, 5, 2, 6], [9, 1, 4, 4]])
    wrong = (x - x.mean(-1, keepdims=True)) / np.array([[2.6], [1.7], [3.1]])
    text = "[" + ", ".join("[" + ", ".join(f"{v:.5f}" for v in row) + "]" for row in wrong) + "]"
    found = diagnose([[str(v) for v in row] for row in x], text)
    assert found.faults == ("carried-forward",)
    assert [line.partition(":")[0] for line in found.evidence] == ["Row (0,)", "Row (1,)", "Row (2,)"]
    assert all(f"{value}" in line for value, line in zip((2.6, 1.7, 3.1), found.evidence, strict=True))


@pytest.mark.parametrize(
    ("x", "gamma", "beta", "given", "words"),
    [
        ("-2 0 9 -4", "1", "0", "-0.554 -0.151 1.661 -0.956", "at 1 / s"),
        ("2 10 7 11 -6 2 -3", "1", "0", "-0.216 1.128 0.624 1.296 -1.560 -0.216 -1.056", "at 1 / s"),
        ("-1 -1.1 4.3", "-0.5 1.5 0.5", "1 -0.75 1", "1.343 -1.839 1.707", "cut off, at every step"),
    ],
)
def test_a_rounded_reciprocal_and_digits_cut_at_every_step_are_rounding(
    x: str, gamma: str, beta: str, given: str, words: str
) -> None:
    found = said(x, given, gamma, beta, None)
    assert found.faults in ((), ("rounded-intermediate",))
    assert found.verdict in ("rounded", "undecided")
    if found.verdict == "rounded":
        assert words in " ".join(found.evidence)


def test_an_omitted_epsilon_that_gives_the_very_digits_is_not_float32_noise() -> None:
    found = said(
        "5.5 8 2.5 6.5 9 5", "-0.4488350 1.4542227 -0.6245995 -0.7827631 2.7648338 -0.7432654",
        "0.9 0.5 0.25 1.1 2 -0.5", "-0.2 1 -0.2 -1 0 -1", None,
    )  # fmt: skip
    assert (found.verdict, found.faults) == ("wrong", ("epsilon-omitted",))


def test_sixteen_digits_of_a_one_pass_variance() -> None:
    assert said("1001 999 997", "1.224742575010325 0.0 -1.224742575010325", eps=None).faults == ("one-pass-variance",)


@pytest.mark.parametrize(
    ("given", "faults"),
    [
        ("-2/5 2/5 -4/5 4/5", ("variance-not-root",)),
        ("-sqrt(10)/5 sqrt(10)/5 2sqrt(10)/5 2sqrt(10)/5", ("arithmetic-slip",)),
        ("-sqrt(10)/5 sqrt(10)/5 -2sqrt(10)/5 2sqrt(10)/3", ("arithmetic-slip",)),
        ("sqrt(10)/5 -sqrt(10)/5 -2sqrt(10)/5 2sqrt(10)/5", ("wrong-order",)),
        ("-sqrt(10)/5 sqrt(10)/5 -2sqrt(10)/5 2sqrt(10)/5", ()),
    ],
)
def test_exact_answers_are_judged_with_epsilon_zero_unless_one_is_named(given: str, faults: tuple[str, ...]) -> None:
    found = said("3 5 2 6", given, eps=None)
    assert found.faults == faults
    assert any("judged with epsilon 0" in note or "exact for epsilon 0" in note for note in found.notes)


def test_one_gamma_for_all_features() -> None:
    given = "0.9931785 -0.8004941 0.4420482 -0.7347325"
    assert said("1.65 1.19 1.1 -0.43", given, "0.5 0.8 -0.5 0.5", "0.5 -1 0.3 0.1", None).faults == (
        "gamma-first-only",
    )


def test_an_x_misread_under_the_root_mean_square() -> None:
    given = "-0.8882798 0.4441399 0.4441399 -0.2960933 1.6285129 1.0363264 1.6285129 -0.5921865"
    found = diagnose(parse_vector("-6 3 1 -2 11 7 11 -4"), given, spec=RMS)
    assert (found.faults, found.evidence) == (("carried-forward",), ("As if x[2] were 3 instead of 1.",))


def test_places_in_a_row_are_places_in_the_whole() -> None:
    x = np.array([[1.0, 2, 4, 7], [3, 5, 2, 6]])
    misread = x.copy()
    misread[1, 0] = 4
    deviation = misread - misread.mean(-1, keepdims=True)
    y = deviation / np.sqrt((deviation**2).mean(-1, keepdims=True) + 1e-5)
    text = "[" + ", ".join("[" + ", ".join(f"{v:.6f}" for v in row) + "]" for row in y) + "]"
    found = diagnose([[str(v) for v in row] for row in x], text)
    assert "As if x[1, 0] were 4 instead of 3." in found.evidence


def test_what_torch_prints_is_read() -> None:
    found = said("1 2 3", "tensor([-1.2247,  0.0000,  1.2247], grad_fn=<NativeLayerNormBackward0>)", eps=None)
    assert found.verdict == "correct"
    assert said("1 2 3", "array([-1.2247,  0.    ,  1.2247], dtype=float32)", eps=None).verdict == "correct"
    assert said("1 2 3", "tensor([1, 2", eps=None).verdict == "malformed"


@pytest.mark.parametrize(
    ("order", "given", "faults", "words"),
    [
        ("post", "-1.50756 0.90453 -0.30151 0.90453", ("branch-omitted",), "The numbers are norm(x)"),
        ("pre", "-4 4 0 4", ("branch-omitted",), "The numbers are x;"),
        ("pre", "4 7 -6 10", (), "Right as they stand: y[0], y[2], y[3]."),
    ],
)
def test_a_sublayer_that_was_not_added(order: str, given: str, faults: tuple[str, ...], words: str) -> None:
    residual = parse_vector("8 2 -6 6")
    found = diagnose(parse_vector("-4 4 0 4"), given, residual=residual, order=order)
    assert found.faults == faults
    assert words in " ".join(found.evidence)


def test_in_a_block_the_sum_is_what_was_misread() -> None:
    x, residual = np.array([10.0, -5, 10, 4, 1]), np.array([-5.0, -6, -5, -4, 3])
    misread = x + residual
    misread[1] = 11
    deviation = misread - misread.mean()
    given = " ".join(f"{v:.6f}" for v in deviation / np.sqrt((deviation**2).mean() + 1e-5))
    found = diagnose(x.astype(int), given, residual=residual.astype(int), order="post")
    assert found.evidence == ("As if (x + F)[1] were 11 instead of -11.",)


def test_two_numbers_exchanged_are_an_order_whatever_the_length() -> None:
    x = np.array([3.0, 7, 1, 9, 4, 12, 6, 2])
    y = (x - x.mean()) / np.sqrt(x.var() + 1e-5)
    y[[1, 4]] = y[[4, 1]]
    assert said("3 7 1 9 4 12 6 2", " ".join(f"{v:.4f}" for v in y), eps=None).faults == ("wrong-order",)
    assert diagnose_arrays(x, y).faults == ("wrong-order",)


def test_a_constant_row_of_ones_is_an_rms_norm_as_well() -> None:
    found = said("5 5 5", "1 1 1", eps=None)
    assert {*found.faults, *found.alternatives} >= {"rms-for-layer", "gamma-beta-swapped"}


def test_two_known_mistakes_stand_beside_one_and_a_free_number() -> None:
    found = said("2 4 4 6", "-1.225 0 0 1.225", "0.5 1 1 2", "1 1 1 1", None)
    assert found.faults == ("affine-omitted", "carried-forward")
    assert "unbiased-variance+affine-omitted" in found.alternatives
