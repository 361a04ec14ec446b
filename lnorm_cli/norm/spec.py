"""Which normalization: the Spec of each norm and, changed in one field, of each known mistake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

HALF = Fraction(1, 2)
ROOTS = {"root": HALF, "fourth_root": Fraction(1, 4), "reciprocal_root": -HALF}
"""Operations that raise to a power, by name; to the power 0 it is "one", to 2 "square"."""
SUMS = ("mean", "unbiased_mean", "sum")
"""Operations that make one number of a row."""

DEFAULT_EPS = Fraction(1, 100_000)
"""1e-5, the default of torch.nn.LayerNorm."""


@dataclass(frozen=True)
class Spec:
    """Which normalization: what is subtracted, what divides, where epsilon, gamma and beta enter.

    axes       the axes that share one mean and variance (a "row" of n elements)
    numerator  x - mean ("centered"), x ("raw") or mean - x ("flipped")
    spread     what measures the row's size: the variance, computed in two passes or in one
               (mean of squares minus square of mean), the mean square, or the mean absolute deviation
    divisor    what the sum behind the spread is divided by: n, n-1, or 1
    epsilon    added inside the power, outside it, after the division; alone under it; or omitted
    power      of spread + epsilon, which then divides: 1/2 is the root, with 0 nothing is divided by
    affine     how gamma and beta enter
    pool       which elements enter the statistics: the row; the row with `padding` zeros, for mean and
               variance or for the variance alone; the row without its last `padding` elements; the row and
               the first `padding` elements of the next (zeros after the last row); or "column": row i's
               statistics meet column i, as when keepdims is forgotten
    """

    axes: tuple[int, ...] = (-1,)
    numerator: Literal["centered", "raw", "flipped"] = "centered"
    spread: Literal["variance", "one-pass", "mean-square", "mean-absolute"] = "variance"
    divisor: Literal["n", "n-1", "1"] = "n"
    epsilon: Literal["inside", "outside", "after", "alone", "omitted"] = "inside"
    power: Fraction = HALF
    affine: Literal[
        "scale-shift", "shift-scale", "gamma-omitted", "beta-omitted", "omitted", "swapped", "one-plus-gamma",
        "first-only", "reversed", "beta-subtracted", "gamma-divided", "gamma-first", "beta-first",
    ] = "scale-shift"  # fmt: skip
    pool: Literal["row", "column", "padded", "padded-variance", "truncated", "neighbours"] = "row"
    padding: int = 0


LAYER = Spec()
RMS = Spec(numerator="raw", spread="mean-square")
BATCH = Spec(axes=(0,))
NORMS: Mapping[str, Spec] = {"layer": LAYER, "rms": RMS, "batch": BATCH}


def row_spec(spec: Spec) -> Spec:
    """The same normalization on an array already in rows."""
    return replace(spec, axes=(-1,))
