"""Formulas compared as real algebra: at random points first, then symbolically, within a time limit.

Symbols are real, and those of `reading.grammar.POSITIVE` positive. A point where the two differ settles the
matter; agreement at every point is then to be proved. What is neither is undecided, which is not wrong.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from lnorm_cli.errors import InputError
from lnorm_cli.quiz.dice import Dice
from lnorm_cli.quiz.limit import OutOfTime, time_limit
from lnorm_cli.reading import parse_number
from lnorm_cli.reading.grammar import POSITIVE

if TYPE_CHECKING:
    import sympy

NAMES = ("mu", "var", "sigma", "eps", "gamma", "beta", "x", "n", "d")
"""The names that every formula may use."""

SECONDS = 2.0
"""Time for one comparison."""

MAX_TERMS = 2_000
"""Formulas that would have more terms when multiplied out are not compared by algebra."""

POINTS = 16
DIGITS = 50

Verdict = Literal["equal", "different", "undecided"]


def read_formula(text: str, names: tuple[str, ...]) -> Any:
    """A formula as an exact value or sympy expression; InputError points at what is not in the grammar."""
    try:
        return parse_number(text, names=names)
    except InputError as error:
        word = error.what.partition("unknown name ")[2].strip("'\"")
        if word and word not in names and word.lower() in names:
            hint = f"{word} is not known here: use {word.lower()}"
            raise InputError(error.what, hint=hint, text=error.text, position=error.position) from None
        raise


def compare(given: Any, expected: Any, seconds: float = SECONDS) -> Verdict:
    """Whether two formulas are equal for all values of their symbols."""
    import sympy

    a, b = sympy.sympify(given), sympy.sympify(expected)  # of values, never of text
    if a == b:
        return "equal"
    try:
        with time_limit(seconds):
            if _differ_somewhere(a, b):
                return "different"
            return "equal" if _proved(a, b) else "undecided"
    except OutOfTime:
        return "undecided"
    except Exception:  # whatever sympy meets inside: the formulas stand, the comparison has failed
        return "undecided"


def _differ_somewhere(a: sympy.Expr, b: sympy.Expr) -> bool:
    """Whether some point tells a and b apart; raises where too few points can be evaluated."""
    symbols = sorted(a.free_symbols | b.free_symbols, key=str)
    dice = Dice("points", a, b)
    judged = 0
    for number in range(POINTS):
        point = {symbol: _coordinate(dice, str(symbol), number) for symbol in symbols}
        left, right = _at(a, point), _at(b, point)
        if left is None and right is None:
            continue
        judged += 1
        if left is None or right is None:
            return True
        scale = max(abs(left), abs(right))
        if scale and abs(left - right) > scale * 10 ** (-DIGITS // 2):
            return True
    if judged < POINTS // 4:
        raise ArithmeticError("too few points can be evaluated")
    return False


def _coordinate(dice: Dice, name: str, number: int) -> Any:
    """A rational coordinate: small, medium and large ones, both signs where the symbol may have both."""
    import sympy

    spread = (10, 10, 1000, 3)[number % 4]
    size = sympy.Rational(1 + dice.below(97 * spread), 1 + dice.below(89))
    return size if name in POSITIVE or dice.below(2) else -size


def _at(formula: sympy.Expr, point: dict[Any, Any]) -> Any:
    """The value at a point, to `DIGITS` digits; None where it is no finite real number."""
    value = formula.evalf(DIGITS, subs=point, maxn=200)
    if not value.is_number or value.is_finite is False or not value.is_comparable:
        real, imaginary = value.as_real_imag()
        if imaginary.is_number and abs(imaginary) > abs(real) * 10 ** (-DIGITS // 2):
            return None
        value = real
        if not value.is_number or value.is_finite is False:
            return None
    return value


def _proved(a: sympy.Expr, b: sympy.Expr) -> bool:
    """Whether algebra shows a = b; both are known to agree (in sign too) at many points."""
    import sympy

    for left, right in ((a, b), (a**2, b**2)):
        if _terms(left) + _terms(right) > MAX_TERMS:
            return False
        if sympy.expand(left - right) == 0:
            return True
        if sympy.simplify(sympy.together(left - right)) == 0:
            return True
    return False


def _terms(formula: sympy.Expr) -> int:
    """How many terms the formula has once multiplied out, counted only as far as `MAX_TERMS`."""
    if formula.is_Add:
        total = sum(map(_terms, formula.args))
    elif formula.is_Mul:
        total = math.prod(map(_terms, formula.args))
    elif formula.is_Pow and formula.exp.is_Integer and abs(formula.exp) > 1:
        base, power = _terms(formula.base), abs(int(formula.exp))
        total = math.comb(base + power - 1, power) if base > 1 and power <= MAX_TERMS else base * power
        total = total if base > 1 else 1
    else:
        total = max(map(_terms, formula.args), default=1)
    return min(total, MAX_TERMS + 1)
