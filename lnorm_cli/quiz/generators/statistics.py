"""Mean, variance, standard deviation and the normalized row: LayerNorm, RMSNorm, BatchNorm."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from lnorm_cli.arithmetic import Exact, to_exact
from lnorm_cli.errors import InputError
from lnorm_cli.norm import BATCH, LAYER, RMS, trace
from lnorm_cli.quiz.dice import Dice
from lnorm_cli.quiz.generators.base import (
    FIGURES,
    ROOTS,
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
from lnorm_cli.quiz.paths import attempted, values_at, wrong_paths
from lnorm_cli.quiz.questions import Numbers, Run, Wrong


def _mean(dice: Dice) -> Draft:
    x = any_row(dice, (4, 5))
    values = to_exact([x])
    total = Exact().sum(values)[0, 0]
    more = [
        Wrong((total,), "mean: the sum", "That is the sum. A mean divides it by the number of features."),
        Wrong((total / (len(x) - 1),), "mean: divided by n - 1", "This divides by n - 1. A mean divides by n."),
        Wrong(
            (Fraction(sorted(x)[len(x) // 2]),),
            "other-step",
            "That is a middle value. The mean adds all and divides.",
        ),
    ]
    answer, right = some(x, LAYER, "mean", (), more=more)
    return Draft(
        "Which mean does LayerNorm subtract?",
        (("x", spelled(x)),),
        answer,
        ("Add up all features first.", "Divide the sum by the number of features; mind the minus signs."),
        steps(right, "mean"),
    )


def _variance(dice: Dice) -> Draft:
    x = row(dice)
    faults = ("unbiased-variance", "sum-not-mean", "second-moment", "mean-absolute-deviation")
    answer, right = some(x, LAYER, "variance", faults, others=("standard_deviation",))
    return Draft(
        "Which variance does LayerNorm use?",
        (("x", spelled(x)),),
        answer,
        (
            "Take the mean first, then every deviation from it.",
            "Square the deviations, add them up, and divide by how many there are.",
        ),
        steps(right, "variance"),
    )


def _variance_fraction(dice: Dice) -> Draft:
    x = any_row(dice, (3, 4))
    faults = ("unbiased-variance", "sum-not-mean", "second-moment", "mean-absolute-deviation")
    answer, right = some(x, LAYER, "variance", faults)
    if right["mean"].value[0, 0].denominator == 1:
        raise InputError("the mean is to be a fraction here")
    return Draft(
        "The mean is a fraction this time. Which variance does LayerNorm use?",
        (("x", spelled(x)),),
        answer,
        (
            "Write the mean and the deviations over one denominator.",
            "The squares have that denominator squared; average them over all features.",
        ),
        steps(right, "variance"),
    )


def _deviation(dice: Dice) -> Draft:
    x = row(dice)
    faults = ("unbiased-variance", "sum-not-mean", "mean-absolute-deviation", "second-moment")
    answer, right = some(x, LAYER, "standard_deviation", faults, others=("variance",))
    return Draft(
        "By which standard deviation does LayerNorm divide, with eps = 0?",
        (("x", spelled(x)),),
        answer,
        ("You need the variance first.", "Take the root of the mean of the squared deviations."),
        steps(right, "standard_deviation"),
    )


def _normalized(dice: Dice) -> Draft:
    x = row(dice)
    index = dice.below(len(x))
    faults = ("unbiased-variance", "variance-not-root", "not-centered", "second-moment", "sign-flipped")
    answer, right = some(x, LAYER, "normalized", faults, index=index, others=("deviation",))
    pleasant(*answer.values)
    return Draft(
        f"What does LayerNorm make of the {ordinal(index)} entry (eps = 0, gamma = 1, beta = 0)?",
        (("x", spelled(x)),),
        answer,
        (
            "How far is this entry from the mean?",
            "Divide that deviation by the standard deviation; its square is the mean of the squared deviations.",
        ),
        steps(right, "normalized"),
    )


def _normalized_root(dice: Dice) -> Draft:
    x = half_way(any_row(dice, (3, 4), largest=8))
    index = dice.below(len(x))
    faults = ("unbiased-variance", "variance-not-root", "not-centered", "second-moment", "sign-flipped")
    answer, right = some(x, LAYER, "normalized", faults, index=index, others=("deviation",))
    return Draft(
        f"A root stays in this one. What does LayerNorm make of the {ordinal(index)} entry"
        " (eps = 0, gamma = 1, beta = 0)?",
        (("x", spelled(x)),),
        answer,
        (
            "Keep the root: write the standard deviation as sqrt(...).",
            "The answer may be left as a number over a root, such as 3/sqrt(7).",
        ),
        steps(right, "normalized"),
    )


def _vector(dice: Dice) -> Draft:
    x = row(dice)
    faults = ("unbiased-variance", "variance-not-root", "not-centered", "second-moment", "sign-flipped")
    answer, right = some(x, LAYER, "output", faults, others=("deviation",))
    return Draft(
        "Normalize the whole row (eps = 0, gamma = 1, beta = 0).",
        (("x", spelled(x)),),
        answer,
        (
            "Mean, deviations, variance, root: the same divisor serves every entry.",
            "The results add up to 0, and the mean of their squares is 1. Use that as a check.",
        ),
        steps(right, "normalized"),
    )


def _rms_value(dice: Dice) -> Draft:
    x = [value * dice.pick((1, 1, -1)) for value in dice.shuffled(dice.pick(ROOTS[dice.pick((3, 4))]))]
    faults = ("layer-for-rms", "sum-not-mean", "unbiased-variance")
    answer, right = some(x, RMS, "root_mean_square", faults, others=("mean_square",))
    return Draft(
        "By which root mean square does RMSNorm divide (eps = 0)?",
        (("x", spelled(x)),),
        answer,
        ("No mean is subtracted.", "Square the entries, average the squares, take the root."),
        steps(right, "root_mean_square"),
    )


def _rms(dice: Dice) -> Draft:
    scale = dice.pick((1, 1, 2))
    x = [scale * v * dice.pick((1, 1, -1)) for v in dice.shuffled(dice.pick(ROOTS[dice.pick((3, 4))]))]
    index = dice.below(len(x))
    faults = ("layer-for-rms", "variance-not-root", "sum-not-mean", "unbiased-variance")
    answer, right = some(x, RMS, "normalized", faults, index=index)
    pleasant(*answer.values)
    return Draft(
        f"What does RMSNorm make of the {ordinal(index)} entry (eps = 0, gamma = 1)?",
        (("x", spelled(x)),),
        answer,
        (
            "The entry itself is divided: nothing is subtracted.",
            "The divisor is the root of the mean of the squares.",
        ),
        steps(right, "normalized"),
    )


_OF_A_BATCH = {
    "unbiased-variance": "The sum of squares was divided by n - 1. BatchNorm in training divides by n, the examples.",
    "wrong-axis": "Mean and variance were taken along each example: that is LayerNorm. BatchNorm's run down a column.",
    "all-axes": "One mean and one variance were taken over the whole table. Each feature has its own.",
}
"""What to say where the statistics run over examples: the catalogue's sentences speak of features."""


def _batch(dice: Dice) -> Draft:
    columns = [row(dice, (4,), scales=(1,)), row(dice, (4,), scales=(2,))]
    table = [list(pair) for pair in zip(*columns, strict=True)]
    column = dice.below(2)
    right = trace(table, BATCH, Exact(), eps=0)
    values = values_at(right, "normalized", column)
    wrong = [
        replace(path, feedback=_OF_A_BATCH.get(path.fault, path.feedback))
        for path in attempted(
            wrong_paths(right, ("unbiased-variance", "variance-not-root", "not-centered"), "normalized",
                        x=table, row=column)
        )
    ]  # fmt: skip
    for fault, axes in (("wrong-axis", (-1,)), ("all-axes", (0, 1))):
        run = trace(table, type(BATCH)(axes=axes), Exact(), eps=0)
        wrong.append(Wrong(tuple(run.output[:, column]), fault, _OF_A_BATCH[fault]))
    return Draft(
        f"A batch of four examples, one a line, two features each. What does BatchNorm (training, eps = 0, gamma = 1,"
        f" beta = 0) make of the {ordinal(column)} feature? Give the four values from top to bottom.",
        tuple((f"example {i + 1}", spelled(example)) for i, example in enumerate(table)),
        Numbers(values, FIGURES, tuple(wrong), single=False),
        (
            "The statistics run down a column, over the examples.",
            "Only the column asked for matters: its mean, its variance with divisor 4, then the quotients.",
        ),
        (Run(right, "normalized", f"{ordinal(column)} feature", column),),
    )


GENERATORS = (
    Generator("mean", "layernorm", "number", ("I1",), _mean),
    Generator("variance", "layernorm", "number", ("I2", "N1"), _variance),
    Generator("variance-of-fractions", "layernorm", "number", ("I2", "N2"), _variance_fraction),
    Generator("standard-deviation", "layernorm", "number", ("I2",), _deviation),
    Generator("normalized-entry", "layernorm", "number", ("N3",), _normalized),
    Generator("normalized-root", "layernorm", "number", ("N1", "N5"), _normalized_root),
    Generator("normalized-vector", "layernorm", "vector", ("N1", "N3"), _vector),
    Generator("root-mean-square", "rmsnorm", "number", ("I15",), _rms_value, "zhang2019"),
    Generator("rms-entry", "rmsnorm", "number", ("I15",), _rms, "zhang2019"),
    Generator("batchnorm-column", "batchnorm", "vector", ("I5",), _batch, "ioffe2015"),
)
