"""Right answers as people and programs give them: other algebra, other dtypes, rounded at each step, 2 to 17 digits."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any

import mistakes
import numpy as np
from mpmath import mp  # type: ignore[import-untyped]

from lnorm_cli.faults import Diagnosis, diagnose, diagnose_arrays
from lnorm_cli.reading import parse_vector

KINDS = (
    "other algebra",
    "float64 typed",
    "rounded at each step",
    "significant digits at each step",
    "float64 array",
    "float32 array",
    "half array",
    "float32 typed",
)


@dataclass(frozen=True)
class Case:
    """One right answer with its problem."""

    kind: str
    x: Any
    gamma: Any
    beta: Any
    eps: Fraction
    given: Any

    def diagnose(self) -> Diagnosis:
        if isinstance(self.given, str):
            x, gamma, beta = (parse_vector(text) for text in (self.x, self.gamma, self.beta))
            return diagnose(x, self.given, gamma=gamma, beta=beta, eps=self.eps)
        return diagnose_arrays(self.x, self.given, gamma=self.gamma, beta=self.beta, eps=float(self.eps))


def cases(chance: random.Random, count: int) -> Iterator[Case]:
    """So many right answers, the kinds in turn."""
    ways = list(mistakes.right_ways().values())
    for i in range(count):
        kind = KINDS[i % len(KINDS)]
        texts, eps = _problem(chance)
        x, gamma, beta = (mistakes.numbers(text) for text in texts)
        if kind == "other algebra":
            values = chance.choice(ways)(x, gamma, beta, eps)
            yield Case(kind, *texts, eps, mistakes.typed(values, chance.randint(2, 17)))
        elif kind == "float64 typed":
            numbers = _numpy(chance, texts, np.float64, float(eps))
            yield Case(kind, *texts, eps, " ".join(f"{v:.{chance.randint(1, 16)}e}" for v in numbers))
        elif kind == "float32 typed":
            numbers = _numpy(chance, texts, np.float32, float(eps))
            form = chance.choice(
                (lambda v: repr(float(v)), str, "{:.6g}".format, "{:.6f}".format, "{:.7g}".format, "{:.8e}".format)
            )
            yield Case(kind, *texts, eps, " ".join(map(form, numbers)))
        elif kind == "significant digits at each step":
            yield Case(kind, *texts, eps, _in_short_decimals(chance, x, gamma, beta, eps))
        elif kind == "rounded at each step":
            yield Case(kind, *texts, eps, _by_hand(chance, x, gamma, beta, eps))
        else:
            yield _array_case(chance, kind, eps)


def _problem(chance: random.Random) -> tuple[tuple[str, str, str], Fraction]:
    n = chance.randint(2, 10)
    decimals = chance.choice((0, 1, 2))
    size = chance.choice((1, 1, 10, 100)) * 10**decimals
    offset = chance.choice((0, 0, 3)) * size
    while True:
        x = [offset + chance.randint(-size * 3, size * 3) for _ in range(n)]
        if len(set(x)) > 1:
            break
    scale = Fraction(1, 10**decimals)
    gamma = [Fraction(chance.randint(1, 30), 10) for _ in x]
    beta = [Fraction(chance.randint(-20, 20), 10) for _ in x]
    texts = tuple(" ".join(_plain(v) for v in values) for values in ([v * scale for v in x], gamma, beta))
    return texts, chance.choice((Fraction(1, 10**5), Fraction(1, 10**6), Fraction(1, 1000), Fraction(0)))  # type: ignore[return-value]


def _plain(value: Fraction) -> str:
    return f"{float(value):.6f}".rstrip("0").rstrip(".")


def _numpy(chance: random.Random, texts: tuple[str, str, str], dtype: Any, eps: float) -> Any:
    x, gamma, beta = (np.array([float(v) for v in text.split()], dtype=dtype) for text in texts)
    return _layer_norm(chance, x, gamma, beta, eps)


def _layer_norm(chance: random.Random, x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """One of several right ways, all in the dtype of x."""
    way = chance.randint(0, 4)
    e = x.dtype.type(eps)
    mean = x.mean(axis=-1, keepdims=True)
    if way == 0:
        return (x - mean) / np.sqrt(x.var(axis=-1, keepdims=True) + e) * gamma + beta
    if way == 1:
        d = x - mean
        return gamma * (d * (1 / np.sqrt(np.mean(d * d, axis=-1, keepdims=True) + e))) + beta
    if way == 2:
        scale = gamma / np.sqrt(x.var(axis=-1, keepdims=True) + e)
        return x * scale + (beta - mean * scale)
    if way == 3:
        total = np.add.accumulate(x, axis=-1)[..., -1:] / x.dtype.type(x.shape[-1])
        d = x - total
        variance = np.add.accumulate(d * d, axis=-1)[..., -1:] / x.dtype.type(x.shape[-1])
        return d / np.sqrt(variance + e) * gamma + beta
    square = np.mean(x * x, axis=-1, keepdims=True) - mean * mean
    if np.any(mean**2 > 20 * square):  # there its digits cancel, and it is a mistake
        square = x.var(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(square + e) * gamma + beta


def _array_case(chance: random.Random, kind: str, eps: Fraction) -> Case:
    random_state = np.random.default_rng(chance.randint(0, 2**31))
    n = chance.choice((3, 8, 64, 257, 768))
    rows = chance.choice((1, 3))
    offset = chance.choice((0.0, 0.0, 1.0, 30.0))
    eps = eps or Fraction(1, 10**5)
    x = random_state.normal(offset, chance.choice((0.1, 1.0, 20.0)), (rows, n))
    gamma, beta = random_state.normal(1, 0.3, n), random_state.normal(0, 0.5, n)
    if kind == "half array":
        dtype = chance.choice(("float16", "bfloat16"))
        if dtype == "bfloat16":
            import ml_dtypes

            kept = np.dtype(ml_dtypes.bfloat16)
        else:
            kept = np.dtype(np.float16)
        x, gamma, beta = (a.astype(kept) for a in (x, gamma, beta))
        wide = [a.astype(np.float32) for a in (x, gamma, beta)]
        if chance.random() < 0.5:
            given = _layer_norm(chance, wide[0], wide[1], wide[2], float(eps)).astype(kept)
        else:  # rounded before the weight is applied
            ones, zeros = np.ones(n, np.float32), np.zeros(n, np.float32)
            normalized = _layer_norm(chance, wide[0], ones, zeros, float(eps)).astype(kept)
            given = (normalized * gamma + beta).astype(kept)
        return Case(kind, x, gamma, beta, eps, given)
    kept = np.dtype(np.float32 if kind == "float32 array" else np.float64)
    x, gamma, beta = (a.astype(kept) for a in (x, gamma, beta))
    return Case(kind, x, gamma, beta, eps, _layer_norm(chance, x, gamma, beta, float(eps)))


def _in_short_decimals(
    chance: random.Random, x: list[Fraction], gamma: list[Fraction], beta: list[Fraction], eps: Fraction
) -> str:
    """Every operation in decimal arithmetic of few digits; the sums, as on a calculator, in many."""
    digits = chance.choice((3, 4, 5, 6))
    rounding = chance.choice((ROUND_HALF_UP, ROUND_HALF_EVEN))
    v, g, b = ([Decimal(a.numerator) / Decimal(a.denominator) for a in values] for values in (x, gamma, beta))
    e, n = Decimal(eps.numerator) / Decimal(eps.denominator), len(x)
    context = Context(prec=digits, rounding=rounding)
    mean = context.divide(sum(v), Decimal(n))
    d = [context.subtract(a, mean) for a in v]
    variance = context.divide(sum(context.multiply(a, a) for a in d), Decimal(n))
    root = context.sqrt(context.add(variance, e))
    z = [context.divide(a, root) for a in d]
    y = [context.add(context.multiply(a, c), s) for a, c, s in zip(z, g, b, strict=True)]
    return " ".join(f"{a:f}" for a in y)


def _by_hand(
    chance: random.Random, x: list[Fraction], gamma: list[Fraction], beta: list[Fraction], eps: Fraction
) -> str:
    """Every step rounded to so many decimals, ties up, to even, or as Python's round does with floats."""
    decimals = chance.choice((2, 3, 4, 5, 6))
    mode = chance.choice((ROUND_HALF_UP, ROUND_HALF_EVEN, "float"))

    def keep(value: Any) -> Any:
        if mode == "float":
            return round(float(value), decimals)
        number = Decimal(mp.nstr(value, 40)) if not isinstance(value, Decimal) else value
        return number.quantize(Decimal(1).scaleb(-decimals), rounding=mode)

    convert = float if mode == "float" else (lambda v: Decimal(v.numerator) / Decimal(v.denominator))
    v, g, b = ([convert(a) for a in values] for values in (x, gamma, beta))
    n = len(v)
    mean = keep(sum(v) / n)
    d = [keep(a - mean) for a in v]
    squares = [keep(a * a) for a in d]
    variance = keep(sum(squares) / n)
    if variance == 0:
        return mistakes.typed(mistakes.answer(x, gamma, beta, eps), 4)
    shifted = keep(variance + convert(eps))
    root = keep(shifted**0.5 if mode == "float" else shifted.sqrt())
    z = [keep(a / root) for a in d]
    scaled = [keep(a * c) for a, c in zip(z, g, strict=True)]
    y = [keep(a + c) for a, c in zip(scaled, b, strict=True)]
    return " ".join(f"{a:.{decimals}f}" for a in y)
