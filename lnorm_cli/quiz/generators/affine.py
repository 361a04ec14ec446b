"""Gamma and beta."""

from __future__ import annotations

from fractions import Fraction

from lnorm_cli.norm import LAYER
from lnorm_cli.quiz.dice import Dice
from lnorm_cli.quiz.generators.base import (
    Draft,
    Generator,
    any_row,
    half_way,
    ordinal,
    pleasant,
    row,
    some,
    spelled,
    steps,
)

HALF = Fraction(1, 2)


def _parameters(dice: Dice, n: int) -> tuple[list[Fraction], list[Fraction]]:
    gamma = [dice.pick((HALF, Fraction(3, 2), Fraction(2), Fraction(3), Fraction(4))) for _ in range(n)]
    beta = [Fraction(dice.pick((-3, -2, -1, 1, 2, 3))) for _ in range(n)]
    return gamma, beta


def _given(x: list[int], gamma: list[Fraction], beta: list[Fraction]) -> tuple[tuple[str, str], ...]:
    return (("x", spelled(x)), ("gamma", spelled(gamma)), ("beta", spelled(beta)))


def _entry(dice: Dice) -> Draft:
    x = row(dice, (4,))
    gamma, beta = _parameters(dice, 4)
    index = dice.between(1, 3)
    faults = (
        "gamma-omitted", "beta-omitted", "affine-omitted", "gamma-beta-swapped", "beta-before-gamma",
        "one-plus-gamma", "unbiased-variance",
    )  # fmt: skip
    answer, right = some(x, LAYER, "output", faults, index=index, gamma=gamma, beta=beta)
    pleasant(*answer.values)
    return Draft(
        f"What is the {ordinal(index)} entry of LayerNorm's output (eps = 0)?",
        _given(x, gamma, beta),
        answer,
        (
            "Normalize the entry first; gamma and beta come last.",
            "Multiply by its own gamma, then add its own beta.",
        ),
        steps(right, "output"),
    )


def _vector(dice: Dice) -> Draft:
    x = row(dice, (4,))
    gamma, beta = _parameters(dice, 4)
    faults = (
        "gamma-omitted", "beta-omitted", "affine-omitted", "gamma-beta-swapped", "beta-before-gamma",
        "one-plus-gamma", "affine-first-only", "affine-reversed", "unbiased-variance", "not-centered",
    )  # fmt: skip
    answer, right = some(x, LAYER, "output", faults, gamma=gamma, beta=beta)
    pleasant(*answer.values)
    return Draft(
        "What is LayerNorm's whole output (eps = 0)?",
        _given(x, gamma, beta),
        answer,
        (
            "First the normalized row, as if gamma were 1 and beta 0.",
            "Then feature by feature: times gamma, plus beta.",
        ),
        steps(right, "output"),
    )


def _round_late(dice: Dice) -> Draft:
    x = half_way(any_row(dice, (4,), largest=8))
    gamma = [dice.pick((HALF, Fraction(3, 2), Fraction(5, 2), Fraction(2), Fraction(3))) for _ in x]
    index = dice.below(4)
    faults = ("gamma-omitted", "one-plus-gamma", "unbiased-variance", "variance-not-root", "not-centered")
    answer, right = some(x, LAYER, "output", faults, index=index, gamma=gamma)
    return Draft(
        f"A root stays in this one. What is the {ordinal(index)} entry of LayerNorm's output"
        " (eps = 0, beta = 0)? Round once, at the end.",
        (("x", spelled(x)), ("gamma", spelled(gamma))),
        answer,
        (
            "Leave the root in place while gamma multiplies.",
            "The entry is gamma times its deviation over sqrt(variance).",
        ),
        steps(right, "output"),
    )


GENERATORS = (
    Generator("affine-entry", "affine", "number", ("I3",), _entry),
    Generator("affine-vector", "affine", "vector", ("I3", "N4"), _vector),
    Generator("affine-root", "affine", "number", ("N4",), _round_late),
)
