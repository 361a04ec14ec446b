"""Counting means and parameters: the shape decides."""

from __future__ import annotations

from fractions import Fraction
from math import prod

from lnorm_cli.layout import Layout
from lnorm_cli.quiz.dice import Dice
from lnorm_cli.quiz.generators.base import WHOLE, Draft, Generator
from lnorm_cli.quiz.questions import Numbers, Said, Wrong


def _wrong(value: int, says: str, fault: str = "other-step") -> Wrong:
    return Wrong((Fraction(value),), fault, says)


def _shape(dice: Dice) -> tuple[int, int, int]:
    return dice.pick((2, 4, 8, 16)), dice.pick((10, 12, 20, 32)), dice.pick((64, 128, 256, 512))


def _means(dice: Dice) -> Draft:
    shape = _shape(dice)
    batch, tokens, width = shape
    layout = Layout(shape, (-1,))
    wrong = (
        _wrong(Layout(shape, (0, 1)).count, "One mean for each feature is what BatchNorm takes.", "wrong-axis"),
        _wrong(
            Layout(shape, (1, 2)).count,
            "That pools all tokens of an example. Each token has its own mean.",
            "wrong-axis",
        ),
        _wrong(tokens, "That is one example's. Every token of every example has its own mean."),
        _wrong(prod(shape), "That is the number of entries. All features of a token share one mean."),
        _wrong(batch + tokens, "Multiply: each of the examples has that many tokens."),
    )
    return Draft(
        f"x has shape ({batch}, {tokens}, {width}): batch, tokens, width."
        " How many means does LayerNorm over the last axis compute?",
        (),
        Numbers((Fraction(layout.count),), WHOLE, wrong),
        (
            "One mean for each set of numbers that is normalized together.",
            "The last axis is averaged away: what is left?",
        ),
        (Said(f"Over the last axis each token is a row of its own: {batch} x {tokens} = {layout.count} means."),),
    )


def _trailing(dice: Dice) -> Draft:
    shape = _shape(dice)
    batch, tokens, width = shape
    layout = Layout(shape, (1, 2))
    wrong = (
        _wrong(width, "That is gamma for the last axis alone. Two axes are normalized here."),
        _wrong(2 * layout.n, "That counts beta as well. Gamma alone was asked for."),
        _wrong(prod(shape), "The batch axis is not normalized: gamma is shared by all examples."),
        _wrong(batch, "That is the number of means. Gamma follows the axes that are normalized."),
    )
    return Draft(
        f"x has shape ({batch}, {tokens}, {width}). A LayerNorm is built with normalized_shape = ({tokens}, {width})."
        " How many entries has its gamma?",
        (),
        Numbers((Fraction(layout.n),), WHOLE, wrong),
        ("Gamma has one entry for each place that is normalized.", "Its shape is the normalized shape."),
        (Said(f"Gamma has the normalized shape, ({tokens}, {width}): {layout.n} entries."),),
    )


def _parameters(dice: Dice) -> Draft:
    layers, width = (
        dice.pick((2, 3, 4, 5, 6, 8, 10, 12, 16, 24)),
        dice.pick((32, 64, 100, 128, 200, 256, 512, 768, 1024)),
    )
    final = dice.below(2)
    norms = 2 * layers + final
    each = 2 * Layout((width,), (-1,)).n
    wrong = [
        _wrong(norms * width, "That counts gamma alone. Each norm has a beta of the same length."),
        _wrong(layers * each + final * each, "Each layer has two norms, one for each sublayer."),
        _wrong(3 * layers * each + final * each, "Three norms belong to a decoder with cross-attention."),
        _wrong(norms * 2, "Gamma and beta are vectors: one entry of each for every feature."),
        _wrong((2 * layers + 1 - final) * each,
               "The final norm learns as well." if final else "There is no final norm in this stack."),
    ]  # fmt: skip
    ending = "and a final norm" if final else "and no final norm"
    return Draft(
        f"A stack of {layers} layers of width {width}: a LayerNorm for attention and one for the feed-forward part in"
        f" each layer, {ending}. How many numbers do all norms learn together?",
        (),
        Numbers((Fraction(norms * each),), WHOLE, tuple(wrong)),
        ("Count the norms first.", "Each norm learns gamma and beta, as long as the width."),
        (
            Said(f"Norms: {layers} x 2{' + 1' if final else ''} = {norms}."),
            Said(f"Each learns {width} + {width} = {each} numbers: {norms} x {each} = {norms * each}."),
        ),
    )


GENERATORS = (
    Generator("count-means", "axes", "number", ("I1",), _means),
    Generator("count-gamma", "axes", "number", ("I1",), _trailing, "pytorch-layernorm"),
    Generator("count-parameters", "parameters", "number", ("N6", "N7"), _parameters, "vaswani2017"),
)
