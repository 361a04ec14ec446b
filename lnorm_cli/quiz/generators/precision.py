"""What float16 and the one-pass variance do to a row."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from lnorm_cli.arithmetic import Exact, Float
from lnorm_cli.errors import InputError
from lnorm_cli.norm import LAYER, trace
from lnorm_cli.quiz.dice import Dice
from lnorm_cli.quiz.generators.base import PATTERNS, WHOLE, Draft, Generator, row, spelled
from lnorm_cli.quiz.questions import Choice, Numbers, Option, Run, Said, Wrong


def _overflow(dice: Dice) -> Draft:
    import numpy as np

    scale = dice.pick((20, 30, 50, 60, 80, 100))
    deviations = [scale * v for v in dice.shuffled(dice.pick(PATTERNS[4]))]
    center = scale * dice.between(1, 4)
    x = [center + v for v in deviations]
    exactly = trace(x, LAYER, Exact(), eps=0)
    half = trace(x, LAYER, Float("float16"), eps=0)
    infinite = [name for name in ("squared_deviation", "variance") if np.isinf(half[name].value).any()]
    first = infinite[0] if infinite else "nothing"
    largest = int(np.max(exactly["squared_deviation"].value))
    total = int(exactly["squared_deviation"].value.sum())
    if abs(largest - 65_504) < 4_000 or abs(total - 65_504) < 6_000:
        raise InputError("too near the limit to be judged by hand")
    says = {
        "squared_deviation": ("A squared deviation", f"The largest square is {largest}."),
        "variance": ("The sum of the squares", f"The largest square is {largest}, their sum {total}."),
        "nothing": ("Nothing overflows", f"The sum of the squares is {total}."),
    }
    options = [
        Option(
            text,
            key == first,
            f"{fact} The largest finite float16 is 65504.",
            "" if key == first else f"{text} (float16 overflow)",
        )
        for key, (text, fact) in says.items()
    ]
    options.append(Option("The mean", False, "Sum and mean of these entries stay far below 65504.", "overflow"))
    if abs(sum(x)) > 40_000:
        raise InputError("the sum is large too")
    return Draft(
        "In float16 the largest finite number is 65504. LayerNorm of this row is computed with float16 throughout"
        " (squares added up, then divided). What is the first to become infinite?",
        (("x", spelled(x)),),
        Choice(tuple(dice.shuffled(options))),
        (
            "Find the mean and the largest deviation.",
            "Square it and compare; then add all the squares and compare.",
        ),
        (Run(exactly, "squared_deviation"), Said(says[first][1])),
    )


def _one_pass(dice: Dice) -> Draft:
    x = row(dice)
    right = trace(x, replace(LAYER, spread="one-pass"), Exact(), eps=0)
    mean, square, variance = (right[name].value[0, 0] for name in ("mean", "mean_square", "variance"))
    n = Fraction(len(x))
    wrong = (
        Wrong(
            (square - mean,),
            "one-pass-variance: mean not squared",
            "The mean has to be squared before it is subtracted.",
        ),
        Wrong(
            (square,),
            "other-step",
            "That is the mean square itself. The squared mean is still to be subtracted.",
        ),
        Wrong(
            (square + mean * mean,),
            "one-pass-variance: sum for difference",
            "Subtract the squared mean, do not add it.",
        ),
        Wrong(
            (variance * n / (n - 1),),
            "unbiased-variance",
            "That has divisor n - 1. LayerNorm's variance divides by n.",
        ),
        Wrong(
            (mean * mean - square,),
            "one-pass-variance: upside down",
            "The other way round: a variance is never negative.",
        ),
    )
    return Draft(
        f"A row of {len(x)} features has mean {spelled([mean])} and mean of squares {spelled([square])}."
        " Which variance does LayerNorm use?",
        (),
        Numbers((variance,), WHOLE, wrong),
        (
            "The variance is the mean of the squares less something.",
            "Mean of the squares, minus the square of the mean. Exact here; in float16 this difference loses digits.",
        ),
        (Said(f"{spelled([square])} - {spelled([mean])}^2 = {spelled([variance])}."),),
    )


GENERATORS = (
    Generator("float16-overflow", "precision", "choice", ("I16",), _overflow, "micikevicius2018"),
    Generator("one-pass-variance", "precision", "number", ("I16",), _one_pass),
)
