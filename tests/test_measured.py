"""Numbers typed out of a float32 program: its noise is let pass, a mistake of the same size is not taken for it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import right_answers

from lnorm_cli.arithmetic import Float
from lnorm_cli.faults import diagnose
from lnorm_cli.faults.answer import make_answer
from lnorm_cli.faults.measured import Otherwise, measured
from lnorm_cli.faults.problem import make_problem
from lnorm_cli.norm import LAYER
from lnorm_cli.reading import parse_vector

WRONG = [
    # Epsilon moves these by 2e-6 of their size, thirty times what float32 does to four small whole numbers.
    ("3 5 2 6", 1, 0, "-0.6324555 0.6324555 -1.2649111 1.2649111", ("epsilon-omitted",)),
    ("3 5 2 6", 1, 0, "-0.63245553 0.63245553 -1.2649111 1.2649111", ("epsilon-omitted",)),
    ("1 2 4", "2 1 3", "1 1 1", "-1.0690364 -0.26725910 1.3362955", ("epsilon-outside-root", "affine-omitted")),
    ("2 4 4 6", "0.5 1 1 2", "1 1 1 1", "-0.70710678 0 0 2.8284271", ("epsilon-omitted", "beta-omitted")),
    # One number off by 25 units of its last digit.
    ("3 5 2 6", 1, 0, "-0.6324543 0.6324543 -1.2649085 1.2649112", ("arithmetic-slip",)),
]


@pytest.mark.parametrize(("x", "gamma", "beta", "given", "faults"), WRONG)
def test_a_mistake_above_the_noise_is_named(x: str, gamma: Any, beta: Any, given: str, faults: tuple[str, ...]) -> None:
    parameters = [parse_vector(str(value)) for value in (gamma, beta)]
    found = diagnose(parse_vector(x), given, gamma=parameters[0], beta=parameters[1])
    assert (found.verdict, found.faults) == ("wrong", faults)


RIGHT = [
    ("3 5 2 6", 1, 0, "-0.63245434 0.6324543 -1.2649087 1.2649085"),
    ("3 5 2 6", 1, 0, "-0.632454276 0.632454276 -1.26490855 1.26490855"),
    # Six digits, the last of them noise: gamma / s and beta - mean gamma / s worked out first, |x| 13 times s.
    ("1.8 2.1", "0.3 2.6", "0 -2", "-0.300000 0.600002"),
]
# The same in one of nine numbers, where an epsilon of 1e-6 happens to give that digit.
SIX = (
    "0.72 0.66 0.76 0.35 3.19 4.62 1 5.34 4.04", "0.7 2.9 2.3 0.4 1.9 2.8 0.8 2.8 1.5",
    "0.3 0.2 2 -0.8 -1 -1.5 2 0.6 0.6",
    "-0.290409 -2.339 0.109266 -1.21649 -0.0937759 1.97593 1.44499 5.15363 1.99702",
)  # fmt: skip


@pytest.mark.parametrize(("x", "gamma", "beta", "given"), RIGHT)
def test_float32_noise_is_right(x: str, gamma: Any, beta: Any, given: str) -> None:
    parameters = [parse_vector(str(value)) for value in (gamma, beta)]
    eps = "0" if x == "1.8 2.1" else "1e-5"
    found = diagnose(parse_vector(x), given, gamma=parameters[0], beta=parameters[1], eps=parse_vector(eps)[0])
    assert found.verdict == "correct"


def test_where_noise_and_an_epsilon_give_the_same_digit_nothing_is_decided() -> None:
    x, gamma, beta = map(parse_vector, SIX[:3])
    found = diagnose(x, SIX[3], gamma=gamma, beta=beta, eps=parse_vector("0")[0])
    assert (found.verdict, found.faults) == ("undecided", ())
    assert "epsilon-value" in found.alternatives


def test_programs_that_are_not_run_stay_well_within_the_room() -> None:
    """Right answers in float32, of five ways to compute them, against what is measured from other ways."""
    chance = random.Random(11)
    furthest = 0.0
    for _ in range(400):
        texts, eps = right_answers._problem(chance)
        x, gamma, beta = (parse_vector(text) for text in texts)
        given = right_answers._numpy(chance, texts, np.float32, float(eps)).astype(float)
        answer = make_answer(" ".join(map(repr, given.tolist())), "float32")
        problem = make_problem(x, answer, gamma, beta, eps, LAYER)
        t = problem.run(LAYER)
        furthest = max(furthest, float((np.abs(given - t.output) / measured(t, "float32", problem.run)[0]).max()))
    assert 0.05 < furthest < 0.8


def test_the_other_order_is_another_order() -> None:
    values = np.array([[1e8, 1.0, 1.0, -1e8]], dtype=np.float32)
    assert (Float("float32").sum(values), Otherwise("float32").sum(values)) == (0.0, 0.0)
    values = np.array([[1e8, -1e8, 1.0, 1.0]], dtype=np.float32)
    assert (Float("float32").sum(values), Otherwise("float32").sum(values)) == (2.0, 0.0)
    third = Otherwise("float32").divide(np.float32([[5.0, 7.0]]), np.float32([[3.0]]))
    assert third[0, 0] == np.float32(5) * (np.float32(1) / np.float32(3))


def test_numbers_implied_are_shown_as_far_as_they_can_be_told() -> None:
    x = parse_vector("3 5 2 6")
    found = diagnose(x, "-0.6324555 0.6324555 -1.2649111 1.2649111")
    assert found.implied is not None
    assert found.implied["mean"] == 4  # the digits cannot tell it from 4
    assert found.implied["standard_deviation"] == pytest.approx(2.5**0.5, rel=1e-7)
    assert found.implied["standard_deviation"] < found.right["standard_deviation"]  # type: ignore[index]
    nonsense = diagnose(parse_vector("2 4 4 6"), "1 7 -3 2")
    assert (nonsense.verdict, nonsense.faults, nonsense.implied) == ("wrong", (), None)
    assert "the nearest" not in " ".join(nonsense.evidence)
    near = diagnose(parse_vector("2 4 4 7 9"), "-1.3 -0.5 -0.2 0.9 1.4")
    assert near.implied is not None
    assert "the nearest are shown" in " ".join(near.evidence)
