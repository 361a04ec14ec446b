"""Gradients through a small LayerNorm, by the project's backward trace."""

from __future__ import annotations

from fractions import Fraction

from lnorm_cli.arithmetic import Exact
from lnorm_cli.norm import LAYER, backward, trace
from lnorm_cli.quiz.dice import Dice
from lnorm_cli.quiz.generators.base import FIGURES, Draft, Generator, pleasant, row, spelled
from lnorm_cli.quiz.questions import Numbers, Run, Said, Wrong


def _dx(dice: Dice) -> Draft:
    x = row(dice, (4,))
    dy = [dice.between(-4, 6) for _ in x]
    forward = trace(x, LAYER, Exact(), eps=0)
    back = backward(forward, dy)
    s = forward["standard_deviation"].value[0, 0]
    right = tuple(back["dx"].value[0])
    upstream, projection = back["upstream"].value[0], back["projection"].value[0]
    wrong = (
        Wrong(tuple(upstream / s), "other-step", "Mean and variance depend on x too; their two terms are missing."),
        Wrong(tuple(back["centered_gradient"].value[0] / s), "other-step", "The path through the variance is missing."),
        Wrong(tuple((upstream - projection) / s), "rms-for-layer",
              "The path through the mean is missing: RMSNorm's gradient has this form."),
        Wrong(tuple(v * s for v in right), "other-step", "The division by the standard deviation is missing."),
    )  # fmt: skip
    pleasant(*right, denominator=30)
    return Draft(
        "LayerNorm (eps = 0, gamma = 1, beta = 0) was applied to x, and dL/dy has come back. What is dL/dx?",
        (("x", spelled(x)), ("dL/dy", spelled(dy))),
        Numbers(right, FIGURES, wrong, single=False),
        (
            "From dL/dy subtract its mean, and the normalized row times a certain mean; then divide by s.",
            "That certain mean is the mean of dL/dy times the normalized row. The entries of dL/dx add up to 0.",
        ),
        (Run(forward, "normalized"), Run(back, "dx", "backward", before=forward)),
    )


def _dgamma(dice: Dice) -> Draft:
    x = [row(dice, (4,)) for _ in range(2)]
    dy = [[dice.between(-3, 4) for _ in range(4)] for _ in range(2)]
    forward = trace(x, LAYER, Exact(), eps=0)
    back = backward(forward, dy, (1, 4))
    each = backward(forward, dy, (2, 4)).dgamma
    right = tuple(back.dgamma.reshape(-1))
    wrong = (
        Wrong(
            tuple(back.dbeta.reshape(-1)),
            "other-step",
            "That is the gradient of beta: dL/dy added up.",
        ),
        Wrong(tuple(each[0]), "other-step", "That is the first token's part alone. All tokens share one gamma."),
        Wrong(tuple(each[1]), "other-step", "That is the second token's part alone. All tokens share one gamma."),
        Wrong(
            tuple(v * Fraction(1, 2) for v in right),
            "other-step",
            "The parts of the tokens add up; no mean is taken.",
        ),
    )
    pleasant(*right)
    return Draft(
        "Two tokens went through one LayerNorm (eps = 0, gamma = 1, beta = 0), and dL/dy has come back for both."
        " What is dL/dgamma?",
        (
            ("token 1", spelled(x[0])),
            ("token 2", spelled(x[1])),
            ("dL/dy of token 1", spelled(dy[0])),
            ("dL/dy of token 2", spelled(dy[1])),
        ),
        Numbers(right, FIGURES, wrong, single=False),
        (
            "Gamma multiplies the normalized row, so normalize both tokens first.",
            "Feature by feature: dL/dy times the normalized value, added over the tokens.",
        ),
        (
            Run(forward, "normalized", "token 1", 0),
            Run(forward, "normalized", "token 2", 1),
            Said(f"dL/dgamma adds dL/dy times these, feature by feature: {spelled(right)}."),
        ),
    )


GENERATORS = (
    Generator("gradient-of-x", "backward", "vector", ("I9",), _dx),
    Generator("gradient-of-gamma", "backward", "vector", ("I3",), _dgamma),
)
