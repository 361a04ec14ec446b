"""An answer as a value: what was given, and how far each number of it may stand from what was computed.

Typed numbers stand for the interval of half a unit of their last digit, limits included, in exact arithmetic:

- a decimal counts at the digits typed: 0.53 is 0.525 to 0.535, 1.2e-9 is 1.15e-9 to 1.25e-9;
- a whole number counts at half a unit; of one digit, among decimals (`-1.34 0 0 1.34`), at the coarsest decimals
  of the others;
- a whole number longer than any decimal (`1270` beside `-0.75 0.25 1.27`) may end in zeros that hold the place;
- a fraction, root or pi is exact, and so is an answer of nothing but zeros: it shows no digit to round.

Numbers of an array (npy, or a dtype named) count at the tolerance of `condition`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli import exact
from lnorm_cli.arithmetic import DTYPES, Float, numpy_dtype, to_exact
from lnorm_cli.errors import InputError
from lnorm_cli.reading import parse_number, parse_vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

_PRINTED = re.compile(r"\s*(?:\w+\.)?(?:tensor|array|Array)\((\[.*\])(?:,\s*\w+\s*=[^,]*)*\)\s*", re.DOTALL)
"""How torch, numpy and jax print an array; the numbers are what stands in the brackets."""

_NAMES = {"nan": math.nan, "inf": math.inf, "infinity": math.inf}
_MOST_DECIMALS = 40

LARGE = 1 << 15
"""Arrays of this many elements and more are judged in slices: nothing converts them whole."""

FLOAT64_DIGITS = 10
"""Nobody works with so many digits by hand: the numbers are a program's, in float64 as a rule."""


@dataclass(frozen=True)
class Typed:
    """One number as typed: its value, and half a unit of its last digit (0 where it is exact).

    `whole` marks a number without decimals, whose unit depends on its neighbours.
    """

    value: exact.Exact | float
    half: Fraction = Fraction(0)
    whole: bool = False
    digits: int = 0
    """Significant digits typed; 0 for a zero and for an exact value."""

    @property
    def finite(self) -> bool:
        return not isinstance(self.value, float)


def typed_number(text: str) -> Typed:
    """One typed number; nan and inf are taken, as evidence."""
    name = text.strip().lower().replace("\u2212", "-")
    if name.lstrip("+-") in _NAMES:
        return Typed(-_NAMES[name.lstrip("+-")] if name.startswith("-") else _NAMES[name.lstrip("+-")])
    value = parse_number(text)
    body = name.lstrip("+-")
    mantissa, _, exponent = body.partition("e")
    whole, point, decimals = mantissa.partition(".")
    if not (whole + decimals).isdigit() or (exponent and not exponent.lstrip("+-").isdigit()):
        return from_exact(value) if isinstance(value, Fraction) and value.denominator == 1 else Typed(value)
    power = int(exponent or 0) - len(decimals)
    digits = len((whole + decimals).lstrip("0"))
    return Typed(value, Fraction(10) ** power / 2, not point and not exponent, digits)


def from_exact(value: exact.Exact) -> Typed:
    """A value whose text is gone: a finite decimal counts at its decimals, another value as exact."""
    if not isinstance(value, Fraction):
        return Typed(value)
    bottom, decimals = value.denominator, 0
    while bottom % 2 == 0 or bottom % 5 == 0:
        bottom //= 10 if bottom % 10 == 0 else 2 if bottom % 2 == 0 else 5
        decimals += 1
        if decimals > _MOST_DECIMALS:
            return Typed(value)
    if bottom > 1:
        return Typed(value)
    if decimals == 0:
        return Typed(value, Fraction(1, 2), True, len(str(abs(value.numerator)).lstrip("0")))
    return Typed(value, Fraction(1, 2 * 10**decimals), False, len(str(abs(value * 10**decimals)).lstrip("0")))


def parse_answer(text: str) -> Array:
    """An array of `Typed` from a list as in `parse_vector`; InputError points at the character."""
    printed = _PRINTED.fullmatch(text)
    return parse_vector(printed[1] if printed else text, typed_number)


@dataclass(frozen=True)
class Answer:
    """What was given, in the shape of x.

    values  float64, nan and inf included
    exact   object array of rationals (irrational values to 250 bits); None for an array of floats
    half    allowed distance from `exact`, likewise; in a floating-point type it comes on top of that type's
    unit    unit roundoff of the floating-point type it is judged at; None for typed numbers
    dtype   its name, or ""
    digits  most significant digits typed in one number (0: exact values)
    """

    values: Array
    exact: Array | None
    half: Array | None
    unit: float | None
    dtype: str
    digits: int
    symbolic: bool = False

    @property
    def typed(self) -> bool:
        """Whether it is judged at the digits typed."""
        return self.unit is None

    @property
    def is_exact(self) -> bool:
        """Whether all numbers were typed as exact ones: fractions, roots, zeros; no decimal among them."""
        return self.typed and self.half is not None and not any(self.half.flat)

    @property
    def coarse(self) -> bool:
        """Whether the most digits typed in one number are one: too little to tell slips by."""
        return self.typed and self.digits < 2 and not self.is_exact

    @property
    def slack(self) -> Array:
        """`half` as floats; 0 for an array of floats."""
        import numpy as np

        return np.zeros(self.values.shape) if self.half is None else Float().array(self.half)

    def at(self, dtype: str) -> Answer:
        """The same numbers judged at the precision of a floating-point type."""

        half = self.half
        if half is not None and self.typed:  # whole numbers are exact there: 0 stands for 0
            half = half * (half < Fraction(1, 2))
        return replace(self, half=half, unit=Float(dtype).unit, dtype=dtype)

    def less(self, added: Array, factor: Fraction) -> Answer:
        """The answer without a term that was added and a factor before it: (answer - added) / factor."""
        import numpy as np

        term = np.asarray(added)
        nearest = Float().array(term)
        floats = (self.values - nearest) / float(factor)
        half = np.zeros(self.values.shape, dtype=object) if self.half is None else self.half
        if self.unit is not None:  # the addition itself rounds
            half = half + 4 * self.unit * np.abs(nearest)
        exacts = None if self.exact is None else (self.exact - _rational(term)) / factor
        return replace(self, values=floats, exact=exacts, half=half / abs(factor))

    def rows(self, index: Any) -> Answer:
        """A part of it, along the first axis."""
        exacts, half = (None if a is None else a[index] for a in (self.exact, self.half))
        return replace(self, values=self.values[index], exact=exacts, half=half)

    def plausible_dtype(self) -> str:
        """The floating-point type that typed numbers came out of, as far as that shows, or "".

        All of them must be numbers of that type, or its shortest decimals, typed with more digits than people do.
        """
        import numpy as np

        if self.exact is None:
            return ""
        finite = np.isfinite(self.values)
        numbers = self.values[finite]
        shown = max((_shown_digits(value) for value in self.exact[finite]), default=0)
        if shown >= 5:
            for name, least in (("bfloat16", 5), ("float16", 5), ("float32", 10)):
                with np.errstate(all="ignore"):
                    same = np.all(numbers.astype(numpy_dtype(name)).astype(float) == numbers)
                if same and shown >= least:
                    return name
        if self.digits >= FLOAT64_DIGITS:
            short = numbers.astype(np.float32).astype(float)
            return "float32" if np.all(np.abs(short - numbers) <= np.abs(numbers) * 2.0**-50) else "float64"
        if 7 <= self.digits <= 9:
            return "float32"
        return ""


def make_answer(given: Any, dtype: str | None) -> Answer:
    """An Answer of text, typed numbers, exact values or a numpy array. InputError for what is no number."""
    import numpy as np

    if isinstance(given, str):
        given = parse_answer(given)
    array = np.asarray(given)
    if array.dtype.kind in "fV" or array.dtype.name == "bfloat16":
        return _from_floats(array, dtype)
    if array.dtype.kind in "iu" and array.size >= LARGE:
        return _from_floats(array.astype(np.float64), dtype)
    if array.dtype.kind in "iu":
        array = to_exact(array)
    elif array.dtype.kind not in "OU":
        raise InputError(f"the answer has dtype {array.dtype}, not numbers", hint="give numbers")
    numbers = np.empty(array.shape, dtype=object)
    for index, item in np.ndenumerate(array):
        numbers[index] = _as_typed(item)
    return _from_typed(numbers, dtype)


def _as_typed(item: Any) -> Typed:
    if isinstance(item, Typed):
        return item
    if isinstance(item, str):
        return typed_number(item)
    if isinstance(item, float) and not math.isfinite(item):
        return Typed(item)
    if isinstance(item, float):
        return typed_number(repr(item))
    return from_exact(exact.tidy(item))


def _from_floats(array: Array, dtype: str | None) -> Answer:
    """An array as it is, a small one in float64; judged as float32 where (at its beginning) all its values are."""
    import numpy as np

    name = dtype or array.dtype.name
    if name not in DTYPES:
        name = "float64"
    values = array if array.size >= LARGE else array.astype(np.float64)
    if dtype is None and name == "float64":
        with np.errstate(all="ignore"):
            finite = array.ravel()[:LARGE].astype(np.float64)
            finite = finite[np.isfinite(finite)]
            short, shorter = (finite.astype(kind).astype(float) == finite for kind in (np.float32, np.float16))
        name = "float32" if short.all() and not shorter.all() else name
    return Answer(values, None, None, Float(name).unit, name, 0)


def _rational(array: Array) -> Array:
    """Exact values with roots and pi to 250 bits."""
    import numpy as np

    return np.asarray(np.frompyfunc(exact.approximate, 1, 1)(to_exact(array)))


def _shown_digits(value: Fraction) -> int:
    """Significant digits of a finite decimal without the zeros at its end; 0 for another value."""
    twos = fives = 0
    bottom = value.denominator
    while bottom % 2 == 0:
        bottom, twos = bottom // 2, twos + 1
    while bottom % 5 == 0:
        bottom, fives = bottom // 5, fives + 1
    if bottom > 1 or max(twos, fives) > 400:
        return 0
    return len(str(abs(value.numerator) * 10 ** max(twos, fives) // value.denominator).strip("0"))


def _trailing(value: Fraction, digits: int) -> Fraction:
    """Half a unit of 1270 beside numbers of three digits: there its last zero only holds the place."""
    places = len(str(abs(value.numerator))) - digits
    if value.denominator > 1 or not digits or places <= 0 or value.numerator % 10**places:
        return Fraction(0)
    return Fraction(10**places, 2)


def _from_typed(numbers: Array, dtype: str | None) -> Answer:
    import numpy as np

    flat: list[Typed] = list(numbers.flat)
    decimal = [number.half for number in flat if number.half and not number.whole]
    digits = max((number.digits for number in flat if number.half < Fraction(1, 2)), default=0)
    values, exacts, halves = (np.empty(len(flat), dtype=object) for _ in range(3))
    for i, number in enumerate(flat):
        if not number.finite:
            values[i], exacts[i], halves[i] = number.value, Fraction(0), Fraction(0)
            continue
        values[i] = exact.to_float(number.value)
        exacts[i] = exact.approximate(number.value)
        halves[i] = min(number.half, max(decimal)) if number.whole and decimal and number.digits < 2 else number.half
        halves[i] = max(halves[i], _trailing(exacts[i], digits))
    if not any(number.digits for number in flat):
        halves[:] = Fraction(0)
    shape = numbers.shape
    answer = Answer(
        values.astype(float).reshape(shape),
        exacts.reshape(shape),
        halves.reshape(shape),
        None,
        "",
        max((number.digits for number in flat), default=0),
        any(number.finite and not isinstance(number.value, Fraction) for number in flat),
    )
    return answer.at(dtype) if dtype else answer
