"""A formula as it is typed: the names in it, and its form in LaTeX, token by token, so that the form stays."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lnorm_cli.render.notation import LATEX, Notation

_TOKENS = re.compile(r"[A-Za-z_][A-Za-z_0-9]*|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\*\*|\S")
SPELLED = {
    "μ": "mu", "µ": "mu", "σ": "sigma", "ε": "eps", "ϵ": "eps", "γ": "gamma", "β": "beta", "π": "pi",
    "\u2212": "-", "\u2013": "-", "×": "*", "·": "*", "÷": "/",
}  # fmt: skip
"""Characters that the grammar reads as something in ASCII."""
_FUNCTIONS = {"sqrt": (r"\sqrt{", "}"), "abs": (r"\left|", r"\right|"), "Abs": (r"\left|", r"\right|")}
_NAMES = {
    "mu": LATEX.symbol("mean"), "sigma": r"\sigma", "eps": LATEX.symbol("epsilon"), "gamma": LATEX.symbol("gamma"),
    "beta": LATEX.symbol("beta"), "pi": r"\pi",
}  # fmt: skip


def _tokens(text: str) -> list[str]:
    return [SPELLED.get(token, token) for token in _TOKENS.findall(text)]


def names_in(text: str) -> tuple[str, ...]:
    """The names of a formula, each once."""
    found = (token for token in _tokens(text) if re.match(r"[A-Za-z_]", token))
    return tuple(name for name in dict.fromkeys(found) if name not in _FUNCTIONS and name != "pi")


def formula_text(text: str, notation: Notation) -> str:
    """A formula as it is typed; in LaTeX as mathematics."""
    if notation.name != "latex":
        return text
    return notation.inline(" ".join(_pieces(list(reversed(_tokens(text))))))


def _pieces(rest: list[str], stop: str = "") -> Iterator[str]:
    """The tokens of `rest` (its last is the next one) in LaTeX, up to a closing bracket."""
    while rest:
        token = rest.pop()
        if token == stop:
            return
        if token in _FUNCTIONS:
            opening, closing = _FUNCTIONS[token]
            yield opening + _argument(rest) + closing
        elif token == "√":
            yield rf"\sqrt{{{_argument(rest)}}}"
        elif token in ("^", "**"):
            yield f"^{{{_argument(rest)}}}"
        elif token in "²³":
            yield f"^{{{'²³'.index(token) + 2}}}"
        elif token == "(":
            yield f"({' '.join(_pieces(rest, ')'))})"
        elif token == "*":
            yield r"\cdot" if rest and rest[-1][0].isdigit() else r"\,"
        else:
            yield _NAMES.get(token) or _plain(token)


def _argument(rest: list[str]) -> str:
    """What a function or power applies to: the inside of brackets, or one token with its sign."""
    if rest and rest[-1] == "(":
        rest.pop()
        return " ".join(_pieces(rest, ")"))
    sign = rest.pop() if rest and rest[-1] in "+-" else ""
    return sign + " ".join(_pieces([rest.pop()] if rest else []))


def _plain(token: str) -> str:
    if token[0] in "0123456789.":
        mantissa, _, exponent = token.lower().partition("e")
        return rf"{mantissa} \cdot 10^{{{exponent}}}" if exponent else mantissa
    escaped = token.replace("_", r"\_")
    return rf"\mathrm{{{escaped}}}" if len(token) > 1 and token[0].isalpha() else escaped
