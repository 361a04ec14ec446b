"""Where epsilon goes, and what too much of it does. Variance plus epsilon is a perfect square throughout."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from lnorm_cli import exact
from lnorm_cli.arithmetic import Exact
from lnorm_cli.errors import InputError
from lnorm_cli.norm import LAYER, trace
from lnorm_cli.quiz.dice import Dice
from lnorm_cli.quiz.generators.base import (
    FIGURES,
    Draft,
    Generator,
    any_row,
    ordinal,
    pleasant,
    row,
    some,
    spelled,
    steps,
    whole_mean,
)
from lnorm_cli.quiz.questions import Numbers, Run, Said, Wrong


def _squared(dice: Dice) -> tuple[list[int], Fraction]:
    """A row and a (large) eps that fills its variance up to a perfect square."""
    x = whole_mean(any_row(dice, (4, 5)))
    variance = trace(x, LAYER, Exact(), eps=0)["variance"].value[0, 0]
    size = isqrt(int(variance)) + dice.between(1, 2)
    eps = size * size - variance
    if not 0 < eps <= 12 or variance <= 1:
        raise InputError("eps is not pleasant")
    return x, eps


def _entry(dice: Dice) -> Draft:
    x, eps = _squared(dice)
    index = dice.below(len(x))
    faults = ("epsilon-omitted", "epsilon-outside-root", "epsilon-after-division", "variance-not-root",
              "unbiased-variance")  # fmt: skip
    answer, right = some(x, LAYER, "normalized", faults, index=index, eps=eps)
    return Draft(
        f"Epsilon is far too large here, so that it shows. What does LayerNorm make of the {ordinal(index)} entry"
        " (gamma = 1, beta = 0)?",
        (("x", spelled(x)), ("eps", exact.text(eps))),
        answer,
        ("Find the variance, and only then bring eps in.", "Variance plus eps is a perfect square."),
        steps(right, "normalized"),
    )


def _variance_after(dice: Dice) -> Draft:
    x, eps = _squared(dice)
    first = trace(x, LAYER, Exact(), eps=eps)
    again = trace(first.output, LAYER, Exact(), eps=0)
    value = again["variance"].value[0, 0]
    root = exact.power(value, Fraction(1, 2))
    variance = first["variance"].value[0, 0]
    wrong = (
        Wrong((Fraction(1),), "epsilon-omitted", "That holds with eps = 0. Here eps makes the divisor larger."),
        Wrong((root,), "other-step", "That is the standard deviation of the result. Square it."),
        Wrong((variance,), "other-step", "That is the variance of x, before the division."),
        Wrong((1 / value,), "other-step", "Upside down: eps shrinks the row, so the result lies below 1."),
    )
    return Draft(
        "This row is normalized with a far too large eps (gamma = 1, beta = 0). Which variance has the result?",
        (("x", spelled(x)), ("eps", exact.text(eps))),
        Numbers((value,), FIGURES, wrong),
        ("Every deviation was divided by sqrt(variance + eps).", "The new variance is the old one over what?"),
        (
            Run(first, "variance_plus_epsilon"),
            Said("Every deviation is divided by the root of the last number, so the variance is divided by the number "
                 f"itself: {exact.text(variance)} over {exact.text(variance + eps)}."),
        ),
    )  # fmt: skip


def _shrink(dice: Dice) -> Draft:
    x = row(dice)
    plain = trace(x, LAYER, Exact(), eps=0)
    size = plain["standard_deviation"].value[0, 0]
    root = dice.between(int(size) + 1, int(size) + 4)
    eps = Fraction(root * root) - plain["variance"].value[0, 0]
    if eps > 40:
        raise InputError("eps is not pleasant")
    shrunk = trace(x, LAYER, Exact(), eps=eps)
    index = next(i for i, v in enumerate(plain.output) if v)
    factor = shrunk.output[index] / plain.output[index]
    outside = trace(x, type(LAYER)(epsilon="outside"), Exact(), eps=eps).output[index] / plain.output[index]
    wrong = (
        Wrong(
            (factor * factor,),
            "variance-not-root",
            "That is what happens to the variance. The entries shrink by its root.",
        ),
        Wrong((1 / factor,), "other-step", "Upside down: eps makes the divisor larger and the entries smaller."),
        Wrong((outside,), "epsilon-outside-root", "That has eps outside the root. It is added to the variance."),
        Wrong(
            (1 / (1 + eps),),
            "epsilon-shrink: variance left out",
            "How much eps matters depends on the variance beside it.",
        ),
    )
    return Draft(
        "Compared with eps = 0, by which factor does this far too large eps multiply every normalized entry?",
        (("x", spelled(x)), ("eps", exact.text(eps))),
        Numbers((factor,), FIGURES, wrong),
        (
            "Only the divisor changes: find it with and without eps.",
            "Both divisors are whole numbers. Which of the two stands on top?",
        ),
        (
            Run(plain, "standard_deviation", "with eps = 0"),
            Run(shrunk, "standard_deviation", "with this eps"),
            Said("The factor is the first divisor over the second."),
        ),
    )


def _small(dice: Dice) -> Draft:
    """Rows of small numbers: variance and eps of one size."""
    x = row(dice, (4,), scales=(1,))
    unit = dice.pick((10, 100))
    values = [Fraction(v, unit) for v in x]
    plain = trace(values, LAYER, Exact(), eps=0)["variance"].value[0, 0]
    root = isqrt(int(plain * unit * unit)) + dice.between(1, 3)
    eps = Fraction(root * root, unit * unit) - plain
    index = dice.below(4)
    faults = ("epsilon-omitted", "epsilon-outside-root", "unbiased-variance", "variance-not-root")
    answer, right = some(values, LAYER, "normalized", faults, index=index, eps=eps)
    pleasant(*answer.values)
    from lnorm_cli.quiz.rules import plain as decimal

    return Draft(
        "A row with a small spread, beside which eps counts."
        f" What does LayerNorm make of the {ordinal(index)} entry (gamma = 1, beta = 0)?",
        (("x", ", ".join(map(decimal, values))), ("eps", decimal(eps))),
        answer,
        (
            "Count decimals with care: the square of 0.1 is 0.01.",
            "Add eps to the variance, then take the root.",
        ),
        steps(right, "normalized"),
    )


GENERATORS = (
    Generator("epsilon-entry", "epsilon", "number", ("I4", "N8"), _entry),
    Generator("epsilon-variance-after", "epsilon", "number", ("I4", "N2"), _variance_after),
    Generator("epsilon-shrink", "epsilon", "number", ("N8",), _shrink),
    Generator("epsilon-small-spread", "epsilon", "number", ("N9",), _small),
)
