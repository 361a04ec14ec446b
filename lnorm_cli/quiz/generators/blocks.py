"""Residual and norm in either order, and the gradient of a chain of blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import prod

from lnorm_cli import exact
from lnorm_cli.arithmetic import Exact, to_exact
from lnorm_cli.exact import Exact as Value
from lnorm_cli.norm import LAYER, Trace, trace
from lnorm_cli.quiz.dice import Dice
from lnorm_cli.quiz.generators.base import FIGURES, WHOLE, Draft, Generator, pleasant, row, spelled
from lnorm_cli.quiz.paths import says
from lnorm_cli.quiz.questions import Numbers, Run, Said, Wrong

Row = Iterable[Value]


def _norm(values: Row) -> Trace:
    return trace(list(values), LAYER, Exact(), eps=0)


def _sum(a: Row, b: Row) -> list[Value]:
    return [exact.add(v, w) for v, w in zip(a, b, strict=True)]


def _scaled(values: Row, c: int) -> list[Value]:
    return [exact.multiply(value, Fraction(c)) for value in values]


def _exactly(values: Sequence[int]) -> list[Value]:
    return list(to_exact(values))


def _post(dice: Dice) -> Draft:
    total, update = row(dice, (4,)), [dice.between(-3, 3) for _ in range(4)]
    x, f = _exactly([t - u for t, u in zip(total, update, strict=True)]), _exactly(update)
    right = _norm(_sum(x, f))
    wrong = (
        Wrong(tuple(_norm(f).output), "residual-omitted", says("residual-omitted")),
        Wrong(
            tuple(_sum(x, _norm(f).output)),
            "other-step",
            "The sum comes first in post-norm, and all of it is normalized.",
        ),
        Wrong(
            tuple(_sum(f, _norm(x).output)),
            "residual-of-normalized",
            "Here x alone was normalized. Post-norm normalizes x + F(x).",
        ),
        Wrong(tuple(_sum(x, f)), "pre-for-post", "That is x + F(x). The norm still has to follow."),
        Wrong(tuple(_norm(x).output), "other-step", "That is the norm of x alone; F(x) is missing."),
    )
    pleasant(*right.output)
    return Draft(
        "A post-norm block, LayerNorm(x + F(x)), with eps = 0, gamma = 1, beta = 0. What does it return?",
        (("x", spelled(x)), ("F(x)", spelled(f))),
        Numbers(tuple(right.output), FIGURES, wrong, single=False),
        ("First the sum, entry by entry.", "Normalize the sum; x alone is never normalized."),
        (Said(f"x + F(x) = {spelled(_sum(x, f))}, and this sum is normalized."), Run(right, "normalized")),
    )


def _pre(dice: Dice) -> Draft:
    x, c = _exactly(row(dice, (4,))), dice.pick((2, 3, 4))
    inner = _norm(x)
    z = list(inner.output)
    right = tuple(_sum(x, _scaled(z, c)))
    wrong = (
        Wrong(tuple(_scaled(z, c)), "residual-omitted", says("residual-omitted")),
        Wrong(tuple(_sum(z, _scaled(z, c))), "residual-of-normalized", says("residual-of-normalized")),
        Wrong(tuple(_norm(_sum(x, _scaled(x, c))).output), "post-for-pre", says("post-for-pre")),
        Wrong(
            tuple(_sum(x, _scaled(x, c))),
            "other-step",
            "F was applied to x itself. In pre-norm it sees LayerNorm(x).",
        ),
    )
    pleasant(*right)
    return Draft(
        f"A pre-norm block, x + F(LayerNorm(x)), where F(z) = {c}z (eps = 0, gamma = 1, beta = 0)."
        " What does it return?",
        (("x", spelled(x)),),
        Numbers(right, FIGURES, wrong, single=False),
        ("Normalize x first; F sees only that.", "Add F's result to the untouched x."),
        (
            Run(inner, "normalized"),
            Said(f"F makes {c} times this: {spelled(map(exact.text, _scaled(z, c)))}."),
            Said(f"x + F(LayerNorm(x)) = {spelled(map(exact.text, right))}."),
        ),
    )  # fmt: skip


def _chain(dice: Dice) -> Draft:
    slopes = [dice.pick((Fraction(1, 2), Fraction(-1, 2), Fraction(1), Fraction(2), Fraction(1, 4), Fraction(3)))
              for _ in range(3)]  # fmt: skip
    upstream = Fraction(dice.pick((2, 4, 8)))
    value = upstream * prod(1 + f for f in slopes)
    wrong = (
        Wrong((upstream * prod(slopes),), "residual-omitted", "This stack has no shortcuts. Each one adds 1."),
        Wrong((upstream * (1 + prod(slopes)),), "other-step", "That is one shortcut around all three blocks."),
        Wrong((upstream * (1 + sum(slopes)),), "other-step", "The factors multiply; this leaves out the mixed paths."),
        Wrong((upstream + prod(1 + f for f in slopes),), "other-step", "The gradient is multiplied, not added."),
        Wrong((upstream,), "other-step", "That is the path along the shortcuts alone. The blocks add their share."),
    )  # fmt: skip
    pleasant(value, denominator=64)
    factors = " * ".join(exact.text(1 + f) if f.denominator == 1 else f"({exact.text(1 + f)})" for f in slopes)
    return Draft(
        "Three residual blocks y = x + F(x) in a row, with plain numbers. At the output the gradient is dL/dy."
        " What is dL/dx at the input of the first block?",
        (("dF/dx of the blocks", spelled(slopes)), ("dL/dy", spelled([upstream]))),
        Numbers((value,), WHOLE, wrong),
        (
            "Each block multiplies the gradient by the derivative of x + F(x).",
            "That derivative is 1 + dF/dx.",
        ),
        (
            Said(f"The three factors 1 + dF/dx are {spelled(1 + f for f in slopes)}."),
            Said(f"dL/dx = {spelled([upstream])} * {factors} = {spelled([value])}."),
        ),
    )


GENERATORS = (
    Generator("post-norm-block", "postnorm", "vector", ("I11",), _post, "vaswani2017"),
    Generator("pre-norm-block", "prenorm", "vector", ("I12",), _pre, "xiong2020"),
    Generator("residual-chain", "gradients", "number", ("I9",), _chain, "he2016"),
)
