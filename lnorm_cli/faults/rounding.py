"""Rounding on the way: a trace whose steps are rounded as by someone who writes them down.

`Rounded` is exact arithmetic with the results of some operations rounded to a number of decimals or of significant
digits. A right method run in it gives the answers that are "right but for rounding", one by one: no tolerance.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.arithmetic import Exact
from lnorm_cli.exact import approximate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

ALL = frozenset({"subtract", "multiply", "add", "statistic", "root", "quotient"})
"""Kinds of results: `statistic` is a mean or variance, `root` the divisor, `quotient` the normalized values.

Beside these, `reciprocal`: 1 / s is written down, and multiplied by."""

HABITS: tuple[frozenset[str], ...] = (
    ALL,
    frozenset({"quotient"}),
    frozenset({"root"}),
    frozenset({"root", "quotient"}),
    frozenset({"statistic", "root", "quotient"}),
    frozenset({"statistic", "root"}),
    frozenset({"statistic"}),
    frozenset({"statistic", "subtract", "root", "quotient"}),
    frozenset({"subtract"}),
    frozenset({"quotient", "multiply"}),
)
"""Which results people write down rounded, the rest being kept in the calculator."""


TIES = ("up", "even", "float")
"""Where a 5 at the end goes: up as taught, to the even digit, or as Python's round does with binary numbers.

"cut" is no rounding at all: further digits are left out."""


LEAST_CUT = 2
"""With fewer decimals, cutting off at every step explains nearly anything."""

MOST_OFFSET = 12
"""So many decimals fewer on the way than in the answer are looked for."""


@dataclass(frozen=True)
class Habit:
    """How someone rounds: after which operations, to how many decimals or significant digits, and where ties go."""

    kinds: frozenset[str]
    digits: int
    significant: bool
    ties: str

    @property
    def words(self) -> str:
        """`3 decimals at every step`."""
        unit = "significant digit" if self.significant else "decimal"
        where = "every step" if self.kinds == ALL else ", ".join(_WORDS[kind] for kind in _WORDS if kind in self.kinds)
        kept = " kept, the others cut off," if self.ties == "cut" else ""
        return f"{self.digits} {unit}{'s' if self.digits != 1 else ''}{kept} at {where}"


_WORDS = {
    "statistic": "mean and variance",
    "subtract": "the deviations",
    "root": "the root",
    "reciprocal": "1 / s",
    "quotient": "the normalized values",
    "multiply": "the products",
    "add": "the sums",
}


def usual_habits(decimals: int, significant: int) -> Iterator[Habit]:
    """The likeliest habits: rounded as the answer is, or with one digit more."""
    for offset in (0, 1):
        for kinds in HABITS[:5]:
            for ties in TIES[:2]:
                yield Habit(kinds, decimals + offset, False, ties)
                yield Habit(kinds, significant + offset, True, ties)


def habits(decimals: int, significant: int) -> Iterator[Habit]:
    """Habits for an answer typed with so many decimals and significant digits, the likely ones first.

    Last come all other choices of steps, rounded as the answer is.
    """
    for offset in (0, 1, 2, *range(-1, -max(5, min(decimals, MOST_OFFSET)), -1)):
        for kinds in HABITS:
            for ties in TIES:
                if decimals + offset >= 0:
                    yield Habit(kinds, decimals + offset, False, ties)
                if significant + offset >= 1:
                    yield Habit(kinds, significant + offset, True, ties)
    for offset in (0, 1, 2) if decimals >= LEAST_CUT else ():
        for kinds, ties in (*((kinds, "cut") for kinds in HABITS[:5]), (frozenset({"reciprocal"}), "up")):
            yield Habit(kinds, decimals + offset, False, ties)
            yield Habit(kinds, significant + offset, True, ties)
    for count in range(1, len(ALL)):
        for chosen in itertools.combinations(sorted(ALL), count):
            if frozenset(chosen) not in HABITS:
                yield Habit(frozenset(chosen), decimals, False, "up")
                yield Habit(frozenset(chosen), significant, True, "up")


class Rounded(Exact):
    """Exact arithmetic with some results rounded, on rationals (roots enter to 250 bits)."""

    name = "rounded"

    def __init__(self, habit: Habit) -> None:
        self.habit = habit

    @property
    def statistics(self) -> Rounded:
        return self

    @cached_property
    def _round(self) -> Any:
        import numpy as np

        return np.frompyfunc(self._round_one, 1, 1)

    def _round_one(self, value: Any) -> Fraction:
        number = approximate(value)
        if not number:
            return number
        decimals = self.habit.digits - _leading(number) if self.habit.significant else self.habit.digits
        return _rounded(number, decimals, self.habit.ties)

    def _keep(self, kind: str, value: Array) -> Array:
        return self._round(value) if kind in self.habit.kinds else value

    def add(self, a: Array, b: Array) -> Array:
        return self._keep("add", super().add(a, b))

    def subtract(self, a: Array, b: Array) -> Array:
        return self._keep("subtract", super().subtract(a, b))

    def multiply(self, a: Array, b: Array) -> Array:
        return self._keep("multiply", super().multiply(a, b))

    def divide(self, a: Array, b: Array) -> Array:
        """A quotient of sums (one a row, by a whole number) is a statistic; any other the normalized values."""
        statistic = a.shape[-1] == 1 and b.size == 1 and b.flat[0] == int(b.flat[0])
        if not statistic and "reciprocal" in self.habit.kinds and _rational(b):
            product: Array = a * self._round(1 / b)
            return product
        return self._keep("statistic" if statistic else "quotient", a / b if _rational(b) else super().divide(a, b))

    def power(self, a: Array, exponent: Fraction) -> Array:
        import numpy as np

        root = np.frompyfunc(approximate, 1, 1)(super().power(a, exponent))
        return self._keep("root", root)

    def sum(self, a: Array) -> Array:
        return super().sum(a)


def _rational(b: Array) -> bool:
    return all(isinstance(value, Fraction) and value for value in b.flat)


def _leading(value: Fraction) -> int:
    """The power of ten above the first digit: 3 for 123, 0 for 0.45, -2 for 0.0012."""
    number = abs(value)
    power = len(str(number.numerator)) - len(str(number.denominator))
    return power + 1 if number >= Fraction(10) ** power else power


def _rounded(value: Fraction, decimals: int, ties: str) -> Fraction:
    scale = Fraction(10) ** decimals
    scaled = abs(value) * scale
    if ties == "cut":
        return Fraction(int(scaled) if value > 0 else -int(scaled)) / scale
    if ties == "float" and scaled.denominator == 2:  # the nearest binary number decides
        scaled = abs(Fraction(float(value))) * scale
    whole = int(scaled + Fraction(1, 2)) if ties == "up" else round(scaled)
    return Fraction(whole if value > 0 else -whole) / scale


def truncated(given: Fraction, value: Fraction, half: Fraction) -> bool:
    """Whether a typed number is the value with its further digits cut off."""
    return abs(given) <= abs(value) < abs(given) + 2 * half and given * value >= 0
