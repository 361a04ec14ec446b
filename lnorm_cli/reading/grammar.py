"""The one grammar of numbers: text to exact values, by folding, never by evaluating.

    sum     = product (("+" | "-") product)*
    product = signed (("*" | "/" | nothing) signed)*        2sqrt(3) and 3(1+2) multiply
    signed  = ("+" | "-") signed | power
    power   = atom (("^" | "**") signed)?                    right to left, above a leading minus
    atom    = number | name | function "(" sum ")" | root atom | "(" sum ")"

Where names are allowed (quiz formulas) they become plain real symbols; eps, var, sigma, n and d are positive.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from lnorm_cli import exact
from lnorm_cli.errors import InputError
from lnorm_cli.exact import Exact

MAX_LENGTH = 50_000
MAX_FORMULA = 1_000
MAX_DEPTH = 40
MAX_ROOT = 12
"""Longest number, longest formula, deepest nesting, highest root (the denominator of an exponent)."""

POSITIVE = frozenset({"eps", "var", "sigma", "n", "d"})
"""Symbols of a formula that stand for positive quantities."""

_SPELLINGS = str.maketrans(
    {
        "\u2212": "-",
        "\u2013": "-",
        "×": "*",
        "·": "*",
        "÷": "/",
        "π": "pi",
        "μ": "mu",
        "µ": "mu",
        "σ": "sigma",
    }
    | {"ε": "eps", "ϵ": "eps", "γ": "gamma", "β": "beta"}
)
_PLAIN = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?\Z")
_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)|(?P<operator>\*\*|[-+*/^()√²³])|(?P<space>\s+)"
)
_NOT_FINITE = {"nan", "inf", "infinity"}


class _Token(NamedTuple):
    kind: str
    text: str
    position: int


def parse_number(text: str, names: Collection[str] = ()) -> Exact:
    """The exact value of one number or, where `names` are given, one formula in them.

    Raises InputError, pointing at the character, for anything that is not in the grammar.
    """
    plain = text.strip().replace("\u2212", "-")
    if _PLAIN.match(plain):
        return _decimal(plain, text, 0)
    return _Parser(text, names).parse()


def _decimal(digits: str, text: str, position: int) -> Fraction:
    mantissa, _, exponent = digits.lower().partition("e")
    if len(mantissa) + abs(int(exponent or 0)) > exact.MAX_DIGITS:
        raise InputError(
            f"the number has more than {exact.MAX_DIGITS} digits",
            hint="lnorm keeps every digit, so it takes no longer ones",
            text=text,
            position=position,
        )
    return Fraction(Decimal(digits))


class _Parser:
    def __init__(self, text: str, names: Collection[str]) -> None:
        self.text = text
        self.names = names
        self.depth = 0
        limit = MAX_FORMULA if names else MAX_LENGTH
        if len(text) > limit:
            raise InputError(f"the text is longer than {limit} characters", hint="write it shorter")
        self.tokens = self._tokenize()
        self.index = 0

    def _tokenize(self) -> list[_Token]:
        tokens, position = [], 0
        while position < len(self.text):
            source = self.text[position]
            spelled = source.translate(_SPELLINGS)
            if spelled != source:
                tokens.append(_Token("name" if spelled.isalpha() else "operator", spelled, position))
                position += 1
                continue
            match = _TOKEN.match(self.text, position)
            if match is None:
                raise self._error(f"unexpected character {source!r}", position)
            if match.lastgroup != "space":
                tokens.append(_Token(str(match.lastgroup), match.group(), position))
            position = match.end()
        return [*tokens, _Token("end", "", len(self.text.rstrip()))]

    def _error(self, what: str, position: int, hint: str = "") -> InputError:
        usual = "a number looks like 2, -0.5, 1e-5, 1/3, 2sqrt(3) or pi/4"
        if self.names:
            usual = "a formula uses numbers, + - * / ^ ( ), sqrt and " + ", ".join(self.names)
        return InputError(what, hint=hint or usual, text=self.text, position=position)

    def parse(self) -> Exact:
        if self.tokens[0].kind == "end":
            raise self._error("there is no number here", 0)
        value = self._sum()
        token = self.tokens[self.index]
        if token.kind != "end":
            raise self._error(f"unexpected {token.text!r}", token.position)
        return value

    def _take(self, *texts: str) -> _Token | None:
        token = self.tokens[self.index]
        if token.kind == "operator" and token.text in texts:
            self.index += 1
            return token
        return None

    def _fold(self, position: int, operation: Callable[..., Exact], *values: Any) -> Exact:
        """Apply an operation; an error of the arithmetic points at the operator."""
        try:
            if any(getattr(value, "free_symbols", None) for value in values):
                return self._fold_symbols(position, operation, values)
            value = operation(*values)
            exact.check_digits(value)
        except InputError as error:
            raise self._error(error.what, position, error.hint) from None
        return value

    def _fold_symbols(self, position: int, operation: Callable[..., Exact], values: tuple[Any, ...]) -> Exact:
        """The same operation on formulas, without the expansion that numbers get."""
        if operation is exact.absolute:
            return abs(values[0])
        a, b = values
        if operation is exact.divide and isinstance(b, Fraction) and b == 0:
            raise self._error("division by 0", position)
        if operation is exact.power:
            import sympy

            return a ** sympy.Rational(b.numerator, b.denominator)
        plain = {
            exact.add: operator.add,
            exact.subtract: operator.sub,
            exact.multiply: operator.mul,
            exact.divide: operator.truediv,
        }
        return plain[operation](a, b)

    def _sum(self) -> Exact:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._error(f"nested more than {MAX_DEPTH} deep", self.tokens[self.index].position)
        value = self._product()
        while token := self._take("+", "-"):
            operation = exact.add if token.text == "+" else exact.subtract
            value = self._fold(token.position, operation, value, self._product())
        self.depth -= 1
        return value

    def _product(self) -> Exact:
        value = self._signed()
        while True:
            token = self._take("*", "/")
            if token is None:
                following = self.tokens[self.index]
                if following.kind != "name" and following.text not in ("(", "√"):
                    return value
                value = self._fold(following.position, exact.multiply, value, self._power())
            else:
                operation = exact.multiply if token.text == "*" else exact.divide
                value = self._fold(token.position, operation, value, self._signed())

    def _signed(self) -> Exact:
        negative = False
        while token := self._take("+", "-"):
            negative ^= token.text == "-"
        value = self._power()
        return self._fold(0, exact.subtract, Fraction(0), value) if negative else value

    def _power(self) -> Exact:
        base = self._atom()
        while token := self._take("²", "³"):
            base = self._fold(token.position, exact.power, base, Fraction(2 if token.text == "²" else 3))
        token = self._take("^", "**")
        if token is None:
            return base
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._error(f"nested more than {MAX_DEPTH} deep", token.position)
        exponent = self._signed()
        self.depth -= 1
        if not isinstance(exponent, Fraction):
            raise self._error("an exponent must be a rational number", token.position)
        if exponent.denominator > MAX_ROOT:
            raise self._error(f"roots go up to the {MAX_ROOT}th", token.position)
        return self._fold(token.position, exact.power, base, exponent)

    def _atom(self) -> Exact:
        token = self.tokens[self.index]
        self.index += 1
        if token.kind == "number":
            return _decimal(token.text, self.text, token.position)
        if token.kind == "name":
            return self._name(token)
        if token.text == "√":
            return self._fold(token.position, exact.power, self._atom(), Fraction(1, 2))
        if token.text == "(":
            value = self._sum()
            if not self._take(")"):
                raise self._error("this bracket is not closed", token.position)
            return value
        if token.kind == "end":
            raise self._error("the expression ends too early", token.position)
        raise self._error(f"unexpected {token.text!r}", token.position)

    def _name(self, token: _Token) -> Exact:
        name = token.text
        if name in self.names:
            return symbol(name)
        if name in ("sqrt", "abs", "Abs"):
            if not self._take("("):
                raise self._error(f"{name} needs brackets", token.position, f"write {name}(2)")
            value = self._sum()
            if not self._take(")"):
                raise self._error("this bracket is not closed", token.position + len(name))
            if name == "sqrt":
                return self._fold(token.position, exact.power, value, Fraction(1, 2))
            return self._fold(token.position, exact.absolute, value)
        if name == "pi":
            import sympy

            return sympy.pi
        if name.lower() in _NOT_FINITE:
            raise self._error(f"{name} is not a finite number", token.position)
        import difflib

        known = [*self.names, "sqrt", "pi"]
        near = difflib.get_close_matches(name, known, n=1)
        meant = f"did you mean {near[0]}?" if near else ""
        raise self._error(f"unknown name {name!r}", token.position, meant)


def symbol(name: str) -> Any:
    """The plain symbol that a formula's name stands for: real, and positive where `POSITIVE` says so."""
    import sympy

    return sympy.Symbol(name, real=True, positive=True if name in POSITIVE else None)
