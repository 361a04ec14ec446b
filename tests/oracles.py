"""Outside oracles: rounding to a float format, and a whole float trace, in fractions; nothing of lnorm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

FORMATS = {"float64": (53, 1023), "float32": (24, 127), "float16": (11, 15), "bfloat16": (8, 127)}
"""Significand bits and largest exponent (IEEE 754; bfloat16 is float32 cut to 16 bits)."""


def nearest(value: Fraction, dtype: str) -> float:
    """The number of that format nearest to value, ties to even; inf from half a unit beyond the largest."""
    bits, largest = FORMATS[dtype]
    if value == 0:
        return 0.0
    exponent = abs(value).numerator.bit_length() - abs(value).denominator.bit_length()
    if abs(value) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, 1 - largest) - bits + 1)
    rounded = round(value / unit) * unit
    if abs(rounded) >= Fraction(2) ** (largest + 1):
        return math.inf if value > 0 else -math.inf
    return float(rounded)


def nearest_root(value: Fraction, dtype: str) -> float:
    """The number of that format nearest to the root of value."""
    scale = 2**400
    root = Fraction(math.isqrt(value.numerator * scale**2 // value.denominator), scale)
    if root * root != value:
        root += Fraction(1, 2 * scale)  # strictly between, so that no tie is made up
    return nearest(root, dtype)


def layer_norm(x: Sequence[float], gamma: float, beta: float, eps: Fraction, dtype: str) -> list[float]:
    """LayerNorm of one row with every operation rounded; sums run from left to right. Finite values only."""

    def r(value: Fraction | float) -> Fraction:
        return Fraction(nearest(Fraction(value), dtype))

    def mean(values: Sequence[Fraction]) -> Fraction:
        total = values[0]
        for value in values[1:]:
            total = r(total + value)
        return r(total / r(len(values)))

    row = [r(value) for value in x]
    mu = mean(row)
    deviations = [r(value - mu) for value in row]
    variance = mean([r(d * d) for d in deviations])
    divisor = Fraction(nearest_root(r(variance + r(eps)), dtype))
    return [float(r(r(r(gamma) * r(d / divisor)) + r(beta))) for d in deviations]
