"""Exact real numbers: a `Fraction` while a value is rational, a sympy expression once a root or pi enters.

Every function takes and returns such values. Nothing is simplified beyond `expand`, which is what keeps sums
of roots canonical; that makes the cost of a step proportional to its size.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.errors import InputError, UndefinedError

if TYPE_CHECKING:
    import sympy

Exact: TypeAlias = "Fraction | sympy.Expr"

MAX_DIGITS = 20_000
"""Most digits that a numerator or denominator may have."""

MAX_ROOT_DIGITS = 1_200
"""Most digits above and below, under a root: sympy looks for square factors there, at a cost growing with the cube."""

MAX_TERMS = 1_000
"""Most terms that expanding a product or power may produce."""

MAX_DENESTED = 10**40
"""Nested roots of larger numbers stay nested: sympy's way out of them factors each, testing for primes."""

MAX_ROOT_TERMS = 80
"""Most terms of a sum under a root: every entry of a row repeats that root, so its size counts n times."""

_PRECISION = 256
"""Bits (relative) to which an irrational value is approximated: far beyond any float and any `--digits`."""


def tidy(value: Any) -> Exact:
    """Bring a result into the canonical form: rational values become `Fraction`."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, int):
        return Fraction(value)
    if value.is_Rational:
        return Fraction(int(value.p), int(value.q))
    return value


def _expanded(value: Any, terms: int) -> Exact:
    if terms > MAX_TERMS:
        raise _too_many(terms)
    return tidy(value.expand()) if terms > 1 else tidy(value)


def _too_many(terms: int) -> InputError:
    return InputError(
        f"the exact result would hold a sum of about {terms} terms",
        hint="use fewer different irrational values, or switch the exact side off (--no-exact)",
    )


def _terms(value: Exact) -> int:
    return 1 if isinstance(value, Fraction) or not value.is_Add else len(value.args)


def add(a: Exact, b: Exact) -> Exact:
    """a + b."""
    total = tidy(a + b)
    if _terms(total) > MAX_ROOT_TERMS:
        raise _too_many(_terms(total))
    return total


def subtract(a: Exact, b: Exact) -> Exact:
    """a - b."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a - b
    return _expanded(a - b, max(_terms(a), _terms(b)))


def multiply(a: Exact, b: Exact) -> Exact:
    """a b."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a * b
    if _is_nested_root(a) or _is_nested_root(b):
        return tidy(a * b)
    return _expanded(a * b, _terms(a) * _terms(b))


def _is_nested_root(a: Exact) -> bool:
    """Whether a has the root of a sum for a factor: spread over a sum it would stand in every term."""
    if isinstance(a, Fraction) or not (a.is_Mul or a.is_Pow):
        return False
    factors = a.args if a.is_Mul else (a,)
    return any(factor.is_Pow and factor.base.is_Add for factor in factors)


def divide(a: Exact, b: Exact) -> Exact:
    """a / b; `UndefinedError` when b is 0."""
    if isinstance(b, Fraction):
        if b == 0:
            raise UndefinedError(f"{'0' if is_zero(a) else text(a)}/0 is undefined")
        return a / b if isinstance(a, Fraction) else _expanded(a * (1 / b), _terms(a))
    if is_zero(b):
        raise UndefinedError(f"{'0' if is_zero(a) else text(a)}/0 is undefined")
    return tidy(a / b) if _is_nested_root(b) or _terms(b) > 1 else _expanded(a / b, _terms(a))


def power(a: Exact, exponent: Fraction) -> Exact:
    """a to a rational exponent; `UndefinedError` where that is not a real number."""
    if exponent.denominator == 1:
        return _whole_power(a, exponent.numerator)
    if sign(a) < 0:
        raise UndefinedError(f"{text(a)} is negative and has no real root")
    if is_zero(a):
        return _whole_power(Fraction(0), 1 if exponent > 0 else -1)
    if _terms(a) > MAX_ROOT_TERMS:
        raise _too_many(_terms(a))
    import sympy

    _forget_factors()
    size = max(1, abs(exponent.numerator))
    _check_size(a, size)
    if isinstance(a, Fraction) and max(a.numerator, a.denominator).bit_length() * 0.302 > MAX_ROOT_DIGITS:
        raise InputError(
            f"the root is of a number with more than {MAX_ROOT_DIGITS} digits",
            hint="numbers this long have no exact root here; switch the exact side off (--no-exact)",
        )
    base: Any = sympy.Rational(a.numerator, a.denominator) if isinstance(a, Fraction) else a
    root = base ** sympy.Rational(exponent.numerator, exponent.denominator)
    if 1 < _terms(a) <= 4 and all(max(abs(n.p), n.q) < MAX_DENESTED for n in base.atoms(sympy.Rational)):
        root = sympy.sqrtdenest(root)
    return tidy(root)


@cache
def _forget_factors() -> None:
    """Let sympy remember no factors: 1.14 remembers some that it has not proved prime, then raises (sympy#28621)."""
    from sympy.ntheory import factor_

    if hasattr(factor_, "factor_cache"):
        factor_.factor_cache.add = lambda n, factors: None


def _whole_power(a: Exact, exponent: int) -> Exact:
    if exponent <= 0 and is_zero(a):
        raise UndefinedError(f"0^{exponent} is undefined")
    _check_size(a, abs(exponent))
    if isinstance(a, Fraction):
        return a**exponent
    return _expanded(a**exponent, math.comb(_terms(a) + abs(exponent) - 1, abs(exponent)))


def _check_size(a: Exact, factor: int) -> None:
    """Refuse a power by the size of its result, before it is computed."""
    if isinstance(a, Fraction):
        bits = factor * (abs(a.numerator).bit_length() + a.denominator.bit_length() - 2)
        too_large = bits * 302 > MAX_DIGITS * 1000  # whole numbers: the exponent may be beyond any float
    else:
        too_large = factor > 64
    if too_large:
        raise InputError(f"the power would have more than {MAX_DIGITS} digits", hint="use a smaller base or exponent")


def check_digits(a: Exact) -> None:
    """Refuse a rational that has outgrown `MAX_DIGITS`."""
    if isinstance(a, Fraction) and max(abs(a.numerator), a.denominator).bit_length() * 0.302 > MAX_DIGITS:
        raise InputError(f"the value has more than {MAX_DIGITS} digits", hint="use smaller numbers")


def absolute(a: Exact) -> Exact:
    """|a|."""
    return -a if sign(a) < 0 else a


def is_zero(a: Exact) -> bool:
    """Whether a is exactly 0, also where that does not show in its form."""
    return sign(a) == 0


def sign(a: Exact) -> int:
    """-1, 0 or 1."""
    if isinstance(a, Fraction):
        return (a > 0) - (a < 0)
    if a.is_Mul or a.is_Pow:  # a product of a rational and roots: sympy knows the sign from the form
        if a.is_positive:
            return 1
        if a.is_negative:
            return -1
    estimate = a.evalf(40)
    if abs(estimate) > 1e-25:
        return 1 if estimate > 0 else -1
    if a.equals(0):
        return 0
    return 1 if a.evalf(400, maxn=2000) > 0 else -1


def text(a: Exact) -> str:
    """The value in the input grammar: what this prints, `reading.parse_number` reads back."""
    if not isinstance(a, Fraction):
        surd = _surd(a)
        return str(a).replace("**", "^") if surd is None else _surd_text(*surd)
    top, bottom = _integer_text(a.numerator), _integer_text(a.denominator)
    if a.denominator == 1:
        return top
    return f"{top}/{bottom}" if bottom.isdigit() else f"{top}/({bottom})"


def _surd(a: sympy.Expr) -> tuple[Fraction, int] | None:
    """(c, k) where a is c sqrt(k), the form of nearly every irrational value here; None for another form."""
    coefficient, root = a.as_coeff_Mul()
    if not (root.is_Pow and root.base.is_Integer and root.exp.is_Rational and coefficient.is_Rational):
        return None
    if (root.exp.p, root.exp.q) != (1, 2):
        return None
    return Fraction(int(coefficient.p), int(coefficient.q)), int(root.base.p)


def _surd_text(c: Fraction, k: int) -> str:
    """c sqrt(k); sympy's printer gives the same text forty times slower."""
    head = {1: "", -1: "-"}.get(c.numerator, f"{c.numerator}*")
    return f"{head}sqrt({k})" + (f"/{c.denominator}" if c.denominator > 1 else "")


def _integer_text(n: int) -> str:
    """An integer, its tail of zeros (from 22 on) as a power of ten."""
    if abs(n) < 10**22:
        return str(n)
    digits = str(n)
    zeros = len(digits) - len(digits.rstrip("0"))
    if zeros < 22:
        return digits
    head = digits[:-zeros]
    if head in ("1", "-1"):
        return f"{head[:-1]}10^{zeros}"
    return f"{head}*10^{zeros}"


def approximate(a: Exact) -> Fraction:
    """A rational within a relative 2^-250 of a; a itself when it is rational."""
    if isinstance(a, Fraction):
        return a
    surd = _surd(a)
    if surd is not None:
        return surd[0] * _root(Fraction(surd[1]))
    value = a.evalf(_PRECISION // 3, maxn=4000)
    significand_sign, significand, exponent, _ = value._mpf_
    magnitude = Fraction(int(significand)) * Fraction(2) ** int(exponent)
    return -magnitude if significand_sign else magnitude


def _root(a: Fraction) -> Fraction:
    """The root of a positive rational, to 2^-256 relative."""
    product = a.numerator * a.denominator
    shift = max(0, _PRECISION - product.bit_length() // 2)
    return Fraction(math.isqrt(product << (2 * shift)), a.denominator << shift)


def to_float(a: Exact) -> float:
    """The nearest float64; infinite where the value lies beyond its range."""
    value = approximate(a)
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf
