"""How precise a decimal answer must be: the rule that a prompt states and the grader applies.

Everything is compared in exact rationals, limits included. A decimal is right when it lies within half a unit
of the last place asked for and rounds to the right value there; so more digits are taken when they agree,
fewer are not, and a value cut off instead of rounded is wrong. Zeros at the end need not be typed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

ZERO = Fraction(1, 10**9)
"""What a float may show for an exact 0, as a share of the largest value beside it (of 1 where there is none)."""

_DECIMAL = re.compile(r"\s*[-+\u2212]?\s*(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,6})?\s*\Z")


@dataclass(frozen=True)
class Rule:
    """Significant figures, decimals or an absolute tolerance; with none of them only the exact value is right."""

    figures: int | None = None
    decimals: int | None = None
    tolerance: Fraction | None = None

    @property
    def text(self) -> str:
        """The rule as a prompt states it."""
        if self.figures:
            return f"exact, or to {self.figures} significant figures"
        if self.decimals is not None:
            return f"exact, or to {self.decimals} decimal{'' if self.decimals == 1 else 's'}"
        if self.tolerance is not None:
            return f"within {plain(self.tolerance)}"
        return "exact"

    def place(self, value: Fraction) -> int:
        """The power of ten of the last digit asked for."""
        if self.decimals is not None:
            return -self.decimals
        assert self.figures is not None
        place = magnitude(value) - self.figures + 1
        return magnitude(rounded(value, place)) - self.figures + 1

    def accepts(self, answer: Fraction, value: Fraction, scale: Fraction = Fraction(1)) -> bool:
        """Whether the answer may stand for the value; `scale` is the largest value that stands beside it."""
        if answer == value:
            return True
        if self.tolerance is not None:
            return abs(answer - value) <= self.tolerance
        if value == 0:
            return abs(answer) <= ZERO * scale
        if answer == 0 or (self.figures is None and self.decimals is None):
            return False
        place = self.place(value)
        half = Fraction(10) ** place / 2
        return abs(answer - value) <= half and any(abs(answer - r) <= half for r in roundings(value, place))

    def too_few(self, text: str, answer: Fraction, value: Fraction) -> bool:
        """Whether a typed decimal (of two figures at least) is the value rounded to fewer places than asked."""
        place = last_place(text)
        if place is None or value == 0 or answer == 0 or self.tolerance is not None:
            return False
        return magnitude(answer) > place and answer in roundings(value, place)

    def cut(self, text: str, answer: Fraction, value: Fraction) -> bool:
        """Whether a typed decimal is the value cut off where it should have been rounded."""
        place = last_place(text)
        if value == 0 or answer == 0 or place is None or (self.figures is None and self.decimals is None):
            return False
        return place <= self.place(value) and answer == _cut(value, place) and answer not in roundings(value, place)


def last_place(text: str) -> int | None:
    """The power of ten of the last digit of a typed decimal; None for another form of a number."""
    if not _DECIMAL.match(text):
        return None
    return int(Decimal(text.replace("\u2212", "-").replace(" ", "").strip()).as_tuple().exponent)


def magnitude(value: Fraction) -> int:
    """The power of ten of the first digit."""
    top, bottom = abs(value.numerator), value.denominator
    power = len(str(top)) - len(str(bottom))
    return power if top >= bottom * Fraction(10) ** power else power - 1


def rounded(value: Fraction, place: int) -> Fraction:
    """The value rounded at a power of ten, halves away from 0."""
    unit = Fraction(10) ** place
    size = (abs(value) / unit + Fraction(1, 2)).__floor__() * unit
    return size if value >= 0 else -size


def roundings(value: Fraction, place: int) -> set[Fraction]:
    """The value rounded at a power of ten: two results where it lies half-way."""
    unit = Fraction(10) ** place
    nearest = rounded(value, place)
    other = nearest - unit if value > 0 else nearest + unit
    return {nearest, other} if abs(value - other) == unit / 2 else {nearest}


def _cut(value: Fraction, place: int) -> Fraction:
    unit = Fraction(10) ** place
    size = (abs(value) / unit).__floor__() * unit
    return size if value >= 0 else -size


def plain(value: Fraction) -> str:
    """A rational as a decimal where it has a short one, else as a fraction."""
    for digits in range(13):
        scaled = value * 10**digits
        if scaled.denominator == 1:
            return f"{Decimal(scaled.numerator).scaleb(-digits):f}"
    return str(value)


def decimal(value: Fraction, rule: Rule) -> str:
    """The value as the rule asks for it."""
    if value == 0 or (rule.figures is None and rule.decimals is None):
        return plain(value)
    place = rule.place(value)
    digits = rounded(value, place) / Fraction(10) ** place
    return f"{Decimal(digits.numerator).scaleb(place):f}"
