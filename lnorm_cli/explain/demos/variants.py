"""DeepNorm's two constants, and DyT."""

from __future__ import annotations

from collections.abc import Sequence

from lnorm_cli import exact, lab
from lnorm_cli.explain.content import Result, Table
from lnorm_cli.explain.demos.arguments import Arguments


def deepnorm(arguments: Arguments) -> Sequence[Result]:
    """alpha and beta of an encoder of N layers."""
    rows = tuple((depth, *lab.deepnorm_scales(depth)) for depth in map(int, arguments.list("depths")))
    return [Table(("N", "alpha (shortcut)", "beta (weights)"), rows)]


def dyt(arguments: Arguments) -> Sequence[Result]:
    """DyT of a row and of the same row stretched, at gamma 1 and beta 0."""
    import numpy as np

    x = arguments.vector()
    alpha = exact.to_float(arguments.exact("alpha"))
    values = np.array([exact.to_float(value) for value in x])
    columns = [lab.dyt(int(factor) * values, alpha).tolist() for factor in arguments.list("by")]
    head = ("x", *("DyT" if factor == "1" else f"DyT of {factor} x" for factor in arguments.list("by")))
    return [Table(head, tuple(zip(map(exact.text, x), *columns, strict=True)), f"alpha = {alpha:g}")]
