"""How numbers, symbols and formulas are written: in Unicode, in plain ASCII, in LaTeX.

A formula is made from a step's operation and operands, so each operation's form stands here once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from lnorm_cli import exact
from lnorm_cli.exact import Exact
from lnorm_cli.norm import Step

LONG = 16
"""With exact values longer than this many characters, decimals are put into a formula."""

NO_BREAK = "\u00a0"
"""Holds the parts of one element together when a line is wrapped; writers print it as a space."""


@dataclass(frozen=True)
class Notation:
    """One way of writing; `index` picks the column of the tables below."""

    name: str
    index: int

    def symbol(self, name: str) -> str:
        """The symbol of a step or parameter."""
        return _SYMBOLS.get(name, (name.replace("_", " "),) * 3)[self.index]

    def formula(self, step: Step) -> str:
        """What the step computes, in symbols; empty for a given."""
        if step.operation == "given":
            return ""
        return self._apply(step.operation, [self.symbol(name) for name in step.operands], "n")

    def substituted(self, step: Step, operands: Sequence[Sequence[str]], n: int, shown: Sequence[int]) -> str:
        """The formula with the numbers put in: one sum for a statistic, else one term for each shown element.

        `operands` are the written values of the elements `shown`, one list an operand, or one value of a statistic.
        """
        if step.operation in _OVER_ROW:
            terms = [f"({value})" if value.startswith("-") else value for value in operands[0]]
            for place in _gaps(shown):
                terms.insert(place, self.dots)
            if len(terms) == 1:
                terms = [terms[0].strip("()")]
            template = (_OF_ONE if len(terms) == 1 else _OVER_ROW)[step.operation][self.index]
            return template.format(" + ".join(terms), n=n, fewer=n - 1)
        count = max(map(len, operands))
        terms = [
            self._apply(step.operation, [operand[i % len(operand)] for operand in operands], str(n))
            for i in range(count)
        ]
        return terms[0] if count == 1 else self.listed(terms, shown)

    def listed(self, values: Sequence[str], shown: Sequence[int] | None = None) -> str:
        """Values separated by commas, with "..." for the gap in `shown`."""
        parts = [value if len(value) > 32 else value.replace(" ", NO_BREAK) for value in values]
        for place in _gaps(shown or ()):
            parts.insert(place, self.dots)
        return ", ".join(parts)

    @property
    def dots(self) -> str:
        return r"\dots" if self.name == "latex" else "..."

    def inline(self, text: str) -> str:
        """A formula or number within prose."""
        return f"${text}$" if self.name == "latex" else text

    def joined(self, *parts: str) -> str:
        """Formulas and words in turn, a formula first, in one line of mathematics."""
        if self.name != "latex":
            return "".join(parts)
        return "".join(rf"\text{{{part}}}" if i % 2 else part for i, part in enumerate(parts))

    def power_of_ten(self, exponent: int) -> str:
        return f"10^{{{exponent}}}" if self.name == "latex" else f"1e{exponent}"

    @property
    def about(self) -> str:
        return {"unicode": "≈", "ascii": "~", "latex": r"\approx"}[self.name]

    @property
    def unequal(self) -> str:
        return {"unicode": "≠", "ascii": "!=", "latex": r"\neq"}[self.name]

    def exact(self, value: Exact) -> str:
        """An exact value; what Unicode and ASCII print, the input grammar reads."""
        if self.name == "latex":
            return _latex(value)
        written = exact.text(value)
        if self.name == "unicode":
            return unicode_roots(written)
        return written

    def decimal(self, value: Any, digits: int) -> str:
        """A float or exact value as a decimal of at most `digits` significant figures; -0 is 0."""
        if isinstance(value, float) and not math.isfinite(value):
            return {"latex": r"\mathrm{%s}"}.get(self.name, "%s") % str(value)
        number = Fraction(repr(value)) if isinstance(value, float) else exact.approximate(exact.tidy(value))
        return decimal_text(number, digits, latex=self.name == "latex")

    def _apply(self, operation: str, operands: list[str], n: str) -> str:
        operands = [self._bracketed(text, operation, place) for place, text in enumerate(operands)]
        return _OPERATIONS[operation][self.index].format(*operands, n=n)

    def _bracketed(self, text: str, operation: str, place: int) -> str:
        """Brackets where the text would otherwise be read another way."""
        if operation in _ENCLOSING or (self.name == "latex" and operation in ("divide", "root")):
            return text
        if self.name == "ascii" and operation in _OVER_ROW:  # sum(...) has its own brackets
            return text
        inner = _outside_brackets(text.removeprefix("-"))
        is_sum = any(mark in inner for mark in (" + ", " - "))
        is_product = any(mark in inner for mark in ("/", "*", "·", "√", r"\frac", r"\sqrt"))
        negative = text.startswith("-") and (place > 0 or operation == "square")
        if operation == "add":
            needed = negative
        elif operation == "subtract":
            needed = negative or (is_sum and place > 0)
        else:
            fraction = "/" in inner and operation == "divide"
            is_product = is_product or (operation == "square" and bool(re.search(r"\^|times|\de", inner)))
            tight = operation in ("square", *_OVER_ROW) or (place > 0 and self.name != "latex")
            needed = negative or is_sum or fraction or (is_product and tight)
        return f"({text})" if needed else text


UNICODE = Notation("unicode", 0)
ASCII = Notation("ascii", 1)
LATEX = Notation("latex", 2)

_SYMBOLS: dict[str, tuple[str, str, str]] = {
    "x": ("x", "x", "x"),
    "pool": ("x", "x", "x"),
    "mean": ("μ", "mu", r"\mu"),
    "deviation": ("x - μ", "x - mu", r"x - \mu"),
    "pooled_deviation": ("x - μ", "x - mu", r"x - \mu"),
    "misaligned_deviation": ("x - μ", "x - mu", r"x - \mu"),
    "flipped_deviation": ("μ - x", "mu - x", r"\mu - x"),
    "squared_deviation": ("(x - μ)²", "(x - mu)^2", r"(x - \mu)^2"),
    "absolute_deviation": ("|x - μ|", "|x - mu|", r"|x - \mu|"),
    "mean_absolute_deviation": ("mad", "mad", r"\mathrm{mad}"),
    "mean_absolute_deviation_plus_epsilon": ("mad + ε", "mad + eps", r"\mathrm{mad} + \varepsilon"),
    "square": ("x²", "x^2", "x^2"),
    "squared_mean": ("μ²", "mu^2", r"\mu^2"),
    "variance": ("σ²", "sigma^2", r"\sigma^2"),
    "mean_square": ("q", "q", "q"),
    "variance_plus_epsilon": ("σ² + ε", "sigma^2 + eps", r"\sigma^2 + \varepsilon"),
    "mean_square_plus_epsilon": ("q + ε", "q + eps", r"q + \varepsilon"),
    "standard_deviation": ("s", "s", "s"),
    "standard_deviation_plus_epsilon": ("s + ε", "s + eps", r"s + \varepsilon"),
    "root_mean_square": ("r", "r", "r"),
    "root_mean_square_plus_epsilon": ("r + ε", "r + eps", r"r + \varepsilon"),
    "quotient": ("z", "z", "z"),
    "normalized": ("x̂", "xhat", r"\hat{x}"),
    "shifted": ("x̂ + β", "xhat + beta", r"\hat{x} + \beta"),
    "scaled": ("γ·x̂", "gamma*xhat", r"\gamma \hat{x}"),
    "output": ("y", "y", "y"),
    "epsilon": ("ε", "eps", r"\varepsilon"),
    "gamma": ("γ", "gamma", r"\gamma"),
    "beta": ("β", "beta", r"\beta"),
    "upstream": ("dy", "dy", "dy"),
    "normalized_gradient": ("g", "g", "g"),
    "mean_gradient": ("m1", "m1", "m_1"),
    "gradient_product": ("g·x̂", "g*xhat", r"g \hat{x}"),
    "mean_product": ("m2", "m2", "m_2"),
    "projection": ("x̂·m2", "xhat*m2", r"\hat{x} m_2"),
    "centered_gradient": ("g - m1", "g - m1", "g - m_1"),
    "remaining_gradient": ("h", "h", "h"),
    "dx": ("dx", "dx", "dx"),
}

_OPERATIONS: dict[str, tuple[str, str, str]] = {
    "mean": ("Σ{0}/n", "sum({0})/n", r"\frac{{1}}{{n}} \sum {0}"),
    "unbiased_mean": ("Σ{0}/(n - 1)", "sum({0})/(n - 1)", r"\frac{{1}}{{n - 1}} \sum {0}"),
    "sum": ("Σ{0}", "sum({0})", r"\sum {0}"),
    "subtract": ("{0} - {1}", "{0} - {1}", "{0} - {1}"),
    "add": ("{0} + {1}", "{0} + {1}", "{0} + {1}"),
    "multiply": ("{0}·{1}", "{0}*{1}", r"{0} \cdot {1}"),
    "divide": ("{0}/{1}", "{0}/{1}", r"\frac{{{0}}}{{{1}}}"),
    "square": ("{0}²", "{0}^2", "{0}^2"),
    "absolute": ("|{0}|", "|{0}|", "|{0}|"),
    "root": ("√({0})", "sqrt({0})", r"\sqrt{{{0}}}"),
    "fourth_root": ("({0})^(1/4)", "({0})^(1/4)", r"\sqrt[4]{{{0}}}"),
    "reciprocal_root": ("1/√({0})", "1/sqrt({0})", r"\frac{{1}}{{\sqrt{{{0}}}}}"),
}
_ENCLOSING = ("absolute", "root", "fourth_root", "reciprocal_root")
_OVER_ROW: dict[str, tuple[str, str, str]] = {
    "mean": ("({0})/{n}", "({0})/{n}", r"\frac{{{0}}}{{{n}}}"),
    "unbiased_mean": ("({0})/{fewer}", "({0})/{fewer}", r"\frac{{{0}}}{{{fewer}}}"),
    "sum": ("{0}", "{0}", "{0}"),
}


_OF_ONE = {name: tuple(form.replace("({0})", "{0}") for form in forms) for name, forms in _OVER_ROW.items()}


def _outside_brackets(text: str) -> str:
    """The text without what stands in brackets."""
    while (shorter := re.sub(r"\([^()]*\)", "", text)) != text:
        text = shorter
    return text


def _gaps(shown: Sequence[int]) -> list[int]:
    """Positions in `shown` before which elements are left out."""
    return [place for place in range(1, len(shown)) if shown[place] != shown[place - 1] + 1]


def decimal_text(number: Fraction, digits: int, *, latex: bool = False) -> str:
    """A rational rounded once to `digits` significant figures; plain from 1e-5 to 1e16, else with exponent.

    Digits before the point are never rounded away where it is plain: zeros there would be taken for digits.
    Zeros at the end are left out where the decimal is the number itself, and stay where it was rounded.
    """
    if number == 0:
        return "0.0"
    context = Context(prec=digits, Emin=-(10**8), Emax=10**8)
    rounded = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    exponent = rounded.adjusted()
    if digits <= exponent < 16:
        digits = exponent + 1
        context = Context(prec=digits, Emin=-(10**8), Emax=10**8)
        rounded = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    if Fraction(rounded) == number:
        rounded = rounded.normalize(context)
    elif len(rounded.as_tuple().digits) < digits:
        rounded = rounded.quantize(Decimal(1).scaleb(exponent - digits + 1), context=context)
    if -6 < exponent < 16:
        plain = format(rounded, "f")
        return plain if "." in plain else plain + ".0"
    mantissa = format(rounded.scaleb(-exponent, context), "f")
    return rf"{mantissa} \times 10^{{{exponent}}}" if latex else f"{mantissa}e{exponent}"


def unicode_roots(text: str) -> str:
    """sqrt(2) as √2 where a plain integer stands inside, and 2*sqrt(3) as 2√3."""
    return re.sub(r"\*?sqrt\((\d+)\)", r"√\1", re.sub(r"(?<=[\d)])\*(?=sqrt\(\d+\))", "", text)).replace("sqrt(", "√(")


def _latex(value: Exact) -> str:
    if isinstance(value, Fraction):
        sign = "-" if value < 0 else ""
        top = _latex_integer(abs(value.numerator))
        if value.denominator == 1:
            return sign + top
        return rf"{sign}\frac{{{top}}}{{{_latex_integer(value.denominator)}}}"
    import sympy

    return sympy.latex(value)  # type: ignore[no-any-return]


def _latex_integer(n: int) -> str:
    written = exact.text(Fraction(n))
    if "^" not in written:
        return written
    head, _, power = written.rpartition("10^")
    return head.replace("*", r" \cdot ") + f"10^{{{power}}}"
