"""One row: its steps, and what changes when one thing changes."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Any

from lnorm_cli import exact
from lnorm_cli.explain.content import Cell, Note, Result, Table
from lnorm_cli.explain.demos.arguments import Arguments
from lnorm_cli.explain.demos.values import apart, cells, first, number, pair, row
from lnorm_cli.norm import DEFAULT_EPS, LAYER, RMS, Spec, Trace, trace


def steps(arguments: Arguments) -> Sequence[Result]:
    """The statistics and the features of one row; with epsilon, what the normalized row's own are."""
    x, eps = arguments.vector(), arguments.exact("eps")
    gamma, beta = arguments.parameter("gamma", 1), arguments.parameter("beta", 0)
    done = trace(x, eps=eps, gamma=gamma, beta=beta)
    exactly = eps == 0
    statistics = [("mean", "mean"), ("variance", "variance")]
    if not exactly:
        statistics.append(("variance + eps", "variance_plus_epsilon"))
    statistics.append(("root", "standard_deviation"))
    rows: list[tuple[Cell, ...]] = [(name, *_split(first(done, step))) for name, step in statistics]
    if not exactly:
        rows += _normalized_statistics(done)
    features = _features(done, exactly, "gamma" in arguments.pairs)
    if "gamma" in arguments.pairs:
        return [features]
    return [Table(("step", "exact", "float"), tuple(rows)), features]


def _split(value: Any) -> tuple[Cell, Cell]:
    """An exact value's text (where it is short enough to say something) and its float."""
    text = exact.text(value)
    return (text if len(text) <= 16 else "", exact.to_float(value))


def _normalized_statistics(done: Trace) -> list[tuple[Cell, ...]]:
    again = trace(row(done, "normalized"), eps=1)
    return [
        ("mean of x̂", *_split(first(again, "mean"))),
        ("variance of x̂", *_split(first(again, "variance"))),
    ]


def _features(done: Trace, exactly: bool, scaled: bool) -> Table:
    columns = [("x", "x"), ("x − mean", "deviation"), ("x̂", "normalized")]
    if scaled:
        columns = [("x", "x"), ("x̂", "normalized"), ("output", "output")]
    head, values = [], []
    for label, step in columns:
        head.append(label)
        if step in ("x", "deviation"):
            values.append([exact.text(v) for v in row(done, step)])
        elif exactly:
            values.append([exact.text(v) for v in row(done, step)])
            head.append("float")
            values.append([number(v) for v in row(done, step)])  # type: ignore[misc]
        else:
            values.append([number(v) for v in row(done, step)])  # type: ignore[misc]
    return Table(tuple(head), tuple(zip(*values, strict=True)))


def divisor(arguments: Arguments) -> Sequence[Result]:
    """The variance divided by n and by n - 1."""
    x = arguments.vector()
    rows = []
    for label, spec in (("n", LAYER), ("n − 1", Spec(divisor="n-1"))):
        done = trace(x, spec, eps=0)
        first_value = row(done, "normalized")[0]
        rows.append((label, pair(first(done, "variance")), pair(first_value)))
    return [Table(("divided by", "variance", "first x̂"), tuple(rows))]


def rescale(arguments: Arguments) -> Sequence[Result]:
    """The same row multiplied and shifted: its size, and the largest change of the normalized row."""
    x = arguments.vector()
    rows: list[tuple[Cell, ...]] = []
    for factor, shift in zip(arguments.list("by"), arguments.list("plus"), strict=True):
        moved = x * Fraction(factor) + Fraction(shift)
        changes = [
            apart(row(trace(moved, eps=eps), "normalized"), row(trace(x, eps=eps), "normalized"))
            for eps in (Fraction(0), DEFAULT_EPS)
        ]
        rows.append((" ".join(exact.text(v) for v in moved), *changes))
    return [Table(("input", "change, eps 0", "eps 1e-5"), tuple(rows), "Largest change of x̂:")]


def rounding(arguments: Arguments) -> Sequence[Result]:
    """gamma times the rounded normalized row, beside the exact product rounded once."""
    x, gamma = arguments.vector(), arguments.vector("gamma")
    digits = int(arguments.text("digits", "3"))
    done = trace(x, eps=0, gamma=gamma)
    rows = []
    for xhat, g, output in zip(row(done, "normalized"), gamma, row(done, "output"), strict=True):
        rounded = _rounded(exact.approximate(xhat), digits)
        early = _rounded(Fraction(rounded) * g, digits)
        right = _rounded(exact.approximate(output), digits)
        rows.append((exact.text(g), *map(str, (rounded, early, right))))
    different = sum(a[2] != a[3] for a in rows)
    return [
        Table(("gamma", "x̂ rounded", "times gamma", "right"), tuple(rows)),
        Note(f"{different} of {len(rows)} differ in the last digit, only because of when they were rounded."),
    ]


def _rounded(value: Fraction, digits: int) -> Decimal:
    """A rational to so many decimals."""
    scaled = round(value * 10**digits)
    return Decimal(scaled).scaleb(-digits).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_EVEN)


def output_statistics(arguments: Arguments) -> Sequence[Result]:
    """Mean and variance of the normalized row and of the output."""
    gamma, beta = arguments.parameter("gamma", 1), arguments.parameter("beta", 0)
    done = trace(arguments.vector(), eps=arguments.exact("eps"), gamma=gamma, beta=beta)
    rows = []
    for label, step in (("x̂", "normalized"), ("output", "output")):
        again = trace(row(done, step), eps=1)
        rows.append((label, number(first(again, "mean")), number(first(again, "variance"))))
    return [Table(("of", "mean", "variance"), tuple(rows))]


def affine_order(arguments: Arguments) -> Sequence[Result]:
    """Scale, then shift; and the other way round."""
    x, gamma, beta = arguments.vector(), arguments.vector("gamma"), arguments.vector("beta")
    outputs = [
        trace(x, Spec(affine=order), eps=arguments.exact("eps"), gamma=gamma, beta=beta)
        for order in ("scale-shift", "shift-scale")
    ]
    columns = [[exact.text(v) for v in gamma], [exact.text(v) for v in beta]]
    values = [[number(v) for v in row(done, "output")] for done in outputs]
    return [Table(("gamma", "beta", "scale first", "shift first"), tuple(zip(*columns, *values, strict=True)))]


def layer_rms(arguments: Arguments) -> Sequence[Result]:
    """LayerNorm and RMSNorm of one row."""
    x, eps = arguments.vector(), arguments.exact("eps", "0")
    layer, rms = trace(x, LAYER, eps=eps), trace(x, RMS, eps=eps)
    features: list[tuple[Cell, ...]] = [
        (exact.text(value), *cells((a, b), exactly=False))
        for value, a, b in zip(x, row(layer, "output"), row(rms, "output"), strict=True)
    ]
    divisors: tuple[Cell, ...] = ("divided by", *_floats(layer, rms))
    same = all(exact.is_zero(exact.subtract(a, b)) for a, b in zip(layer.output, rms.output, strict=True))
    verdict = "The two outputs are exactly equal." if same else "The two outputs differ."
    return [Table(("x", "LayerNorm", "RMSNorm"), (*features, divisors)), Note(verdict)]


def _floats(layer: Trace, rms: Trace) -> tuple[float, float]:
    return number(first(layer, "standard_deviation")), number(first(rms, "root_mean_square"))
