"""Answers with known mistakes, worked out in plain Python and mpmath: independent of lnorm_cli on purpose.

`answer(x, gamma, beta, eps, faults)` does by loops what someone with these mistakes would do; `rounded` writes the
numbers as people type them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

from mpmath import mp, mpf  # type: ignore[import-untyped]

mp.dps = 60

STAGES: dict[str, str] = {
    "unbiased-variance": "divisor",
    "sum-not-mean": "divisor",
    "variance-not-root": "root",
    "rooted-twice": "root",
    "divided-by-reciprocal": "root",
    "divided-by-square": "root",
    "division-omitted": "root spread divisor epsilon eps",
    "mean-absolute-deviation": "spread root",
    "not-centered": "numerator",
    "sign-flipped": "numerator",
    "second-moment": "spread",
    "rms-for-layer": "numerator spread",
    "epsilon-omitted": "epsilon",
    "epsilon-outside-root": "epsilon",
    "epsilon-after-division": "epsilon",
    "epsilon-value": "eps",
    "variance-dropped": "spread epsilon divisor",
    "gamma-omitted": "affine",
    "beta-omitted": "affine",
    "affine-omitted": "affine",
    "gamma-beta-swapped": "affine",
    "beta-before-gamma": "affine",
    "one-plus-gamma": "affine",
    "beta-subtracted": "affine",
    "gamma-divided": "affine",
    "affine-first-only": "affine",
    "gamma-first-only": "affine",
    "beta-first-only": "affine",
    "affine-reversed": "affine",
    "padding-counted": "pool",
}
"""Which part of the calculation each mistake spoils: two that share a part cannot be made together."""

RARE_TOGETHER = {"variance-dropped", "padding-counted"}
"""Mistakes that the sweep makes alone, or with one in gamma and beta."""

OTHER_EPSILON = Fraction(1, 1000)
PADDING = 2


def exact(value: Fraction) -> mpf:
    return mpf(value.numerator) / mpf(value.denominator)


def answer(
    x: Sequence[Fraction],
    gamma: Sequence[Fraction],
    beta: Sequence[Fraction],
    eps: Fraction,
    faults: Iterable[str] = (),
) -> list[mpf]:
    made = set(faults)
    n = len(x)
    e = OTHER_EPSILON if "epsilon-value" in made else eps
    total = Fraction(0)
    for v in x:
        total += v
    mean = total / n
    divisor = _divided_by(_spread(x, mean, made), e, made)
    y = []
    for i, v in enumerate(x):
        top = v - mean
        if "not-centered" in made or "rms-for-layer" in made:
            top = v
        if "sign-flipped" in made:
            top = mean - v
        z = exact(top) / divisor
        if "epsilon-after-division" in made:
            z = z + exact(e)
        y.append(_affine(z, i, [exact(g) for g in gamma], [exact(b) for b in beta], made))
    return y


def _spread(values: Sequence[Fraction], mean: Fraction, made: set[str]) -> Fraction:
    n = len(values)
    if "mean-absolute-deviation" in made:
        terms = [abs(v - mean) for v in values]
    elif "second-moment" in made or "rms-for-layer" in made:
        terms = [v * v for v in values]
    else:
        terms = [(v - mean) ** 2 for v in values]
    if "padding-counted" in made:
        terms += [mean**2] * PADDING
    total = Fraction(0)
    for term in terms:
        total += term
    if "unbiased-variance" in made:
        return total / (n - 1)
    if "sum-not-mean" in made:
        return total
    if "variance-dropped" in made:
        return Fraction(0)
    return total / n


def _divided_by(spread: Fraction, e: Fraction, made: set[str]) -> mpf:
    apart = {"epsilon-omitted", "epsilon-outside-root", "epsilon-after-division"} & made
    under = exact(spread if apart else spread + e)
    if "division-omitted" in made:
        root = exact(Fraction(1))
    elif "variance-not-root" in made or "mean-absolute-deviation" in made:
        root = under
    elif "rooted-twice" in made:
        root = mp.sqrt(mp.sqrt(under))
    elif "divided-by-reciprocal" in made:
        root = 1 / mp.sqrt(under)
    elif "divided-by-square" in made:
        root = under**2
    else:
        root = mp.sqrt(under)
    return root + exact(e) if "epsilon-outside-root" in made else root


def _affine(z: mpf, i: int, gamma: list[mpf], beta: list[mpf], made: set[str]) -> mpf:
    g, b = gamma[i], beta[i]
    if "affine-omitted" in made:
        return z
    if "gamma-omitted" in made:
        return z + b
    if "beta-omitted" in made:
        return z * g
    if "gamma-beta-swapped" in made:
        return z * b + g
    if "beta-before-gamma" in made:
        return (z + b) * g
    if "one-plus-gamma" in made:
        return z * (1 + g) + b
    if "beta-subtracted" in made:
        return z * g - b
    if "gamma-divided" in made:
        return z / g + b
    if "affine-first-only" in made:
        return z * gamma[0] + beta[0]
    if "gamma-first-only" in made:
        return z * gamma[0] + b
    if "beta-first-only" in made:
        return z * g + beta[0]
    if "affine-reversed" in made:
        return z * gamma[-1 - i] + beta[-1 - i]
    return z * g + b


def singles() -> list[tuple[str, ...]]:
    return [(name,) for name in STAGES]


def pairs() -> Iterator[tuple[str, ...]]:
    """Two mistakes in different parts of the calculation."""
    for one, other in itertools.combinations(STAGES, 2):
        parts = set(STAGES[one].split()), set(STAGES[other].split())
        if parts[0] & parts[1]:
            continue
        rare = {one, other} & RARE_TOGETHER
        if rare and "affine" not in parts[0] | parts[1]:
            continue
        if "eps" in parts[0] | parts[1] and "epsilon-omitted" in (one, other):
            continue
        if "mean-absolute-deviation" in (one, other) and "divisor" in parts[0] | parts[1]:
            continue
        if {one, other} == {"sign-flipped", "beta-subtracted"}:  # y with every sign turned: one mistake
            continue
        if {one, other} == {"division-omitted", "affine-omitted"}:  # the deviations, another step
            continue
        yield one, other


def rounded(value: mpf, digits: int) -> str:
    """The number as typed with so many significant digits, rounded half up."""
    if value == 0:
        return "0"
    return str(mp.nstr(value, digits, strip_zeros=False, min_fixed=-30, max_fixed=digits)).rstrip(".")


def typed(values: Iterable[mpf], digits: int) -> str:
    return " ".join(rounded(v, digits) for v in values)


VECTORS: tuple[tuple[str, str, str, str], ...] = (
    ("1 2 4", "2 0.5 -1.5", "1 -1 0.25", "1e-5"),
    ("2 4 4 6", "0.5 1 1.5 2", "1 -0.75 0.25 3", "1e-5"),
    ("3 5 2 6 9", "0.5 1.25 1.5 2 -0.75", "0.25 -1 2 0.5 1.5", "1e-5"),
    ("-1 0.5 4 2.5 -3", "1.5 0.8 1.1 0.6 2.2", "0.3 0.1 -0.4 1 -2", "1e-5"),
    ("0.01 0.02 0.04 -0.03", "2 0.5 1.25 3", "1 -1 0.5 0.75", "1e-5"),
    ("0.3 -1.2 2.5 0.7 1.9 -0.4", "0.9 1.1 0.7 1.3 0.4 1.6", "0.1 -0.2 0.3 0.5 -0.6 0.8", "1e-5"),
    ("10 11 14 19 12", "1.2 0.9 1.4 0.3 2.1", "0.5 -0.5 1 2 -1", "1e-5"),
    ("7 3 8 1 9 4 2 6", "0.5 0.6 0.7 0.8 0.9 1.1 1.2 1.3", "0.1 0.2 -0.3 0.4 -0.5 0.6 0.7 -0.8", "1e-5"),
    ("0.001 0.004 -0.002 0.003", "1.5 0.5 2 -1", "0.2 0.4 -0.6 1", "1e-6"),
    ("-5 -4 -1 -8 -3 -7", "1.3 0.7 1.9 0.2 -1.1 0.6", "2 -1 0.3 0.6 1.4 -0.5", "1e-5"),
    ("100 140 90 120", "0.25 0.75 1.5 2.5", "-1 1 3 0.5", "1e-3"),
    ("0.5 0.25 0.75 1.5", "3 0.4 1.2 0.8", "0.6 -0.3 1.1 0.9", "1e-2"),
    ("12 7 3 25 16 9 4", "1.1 1.2 1.4 0.6 0.7 0.9 2", "0.3 0.6 -0.9 1.2 0.2 -1 0.4", "1e-5"),
    ("1 -1 2 -3 5", "0.7 1.7 0.4 2.4 1.3", "0.9 0.8 0.7 -0.6 0.5", "1e-5"),
    ("0.02 0.05 0.03 0.09 0.01 0.07", "1 2 0.5 1.5 0.25 3", "0.1 0.2 0.4 0.8 1.6 -0.2", "1e-4"),
    ("6 1 4 3 9 2 8 5 7 11", "0.3 0.5 0.7 0.9 1.1 1.3 1.5 1.7 1.9 2.1", "1 -1 1 0.5 -0.5 0.25 2 -2 3 0.1", "1e-5"),
    ("2.5 3.7 1.1 4.9", "-0.5 1.5 2.5 0.5", "0.4 1.4 -2.4 3.4", "1e-12"),
    ("40 43 47 41 52 45", "1.6 0.8 0.4 1.2 2 0.6", "0.7 -0.1 0.9 1.3 -1.7 0.2", "1e-5"),
    ("-0.6 0.8 1.4 -2.2 0.1", "0.9 1.9 0.6 1.6 0.3", "-0.4 0.5 1.5 -1.1 0.7", "1e-5"),
    ("15 22 8 31", "1.75 0.45 1.05 -0.85", "2.2 -1.4 0.6 0.3", "1e-6"),
    ("0.9 0.1 0.4 0.6 0.2 0.8 0.3", "2 1 0.5 1.5 0.8 1.2 0.6", "0.5 0.1 -0.7 0.3 -0.2 0.9 1", "1e-3"),
    ("5 17 11 2 23 8", "0.55 1.45 0.95 1.85 0.35 -1.25", "-0.9 0.4 1.7 -0.2 0.8 0.1", "1e-5"),
)
"""x, gamma, beta, eps: gamma and beta differ in every entry."""


def numbers(text: str) -> list[Fraction]:
    return [Fraction(part) for part in text.split()]


def right_ways() -> dict[str, Callable[[list[Fraction], list[Fraction], list[Fraction], Fraction], list[mpf]]]:
    """Right answers by other algebra."""

    def by_square_of_mean(x, gamma, beta, eps):  # type: ignore[no-untyped-def]
        v = [exact(a) for a in x]
        n = len(v)
        mean = sum(v, mpf(0)) / n
        scale = 1 / mp.sqrt(sum((a * a for a in v), mpf(0)) / n - mean * mean + exact(eps))
        return [
            exact(g) * a * scale + (exact(b) - exact(g) * mean * scale) for a, g, b in zip(v, gamma, beta, strict=True)
        ]

    def by_differences(x, gamma, beta, eps):  # type: ignore[no-untyped-def]
        v = [exact(a) for a in x]
        n = len(v)
        variance = sum(((a - c) ** 2 for a in v for c in v), mpf(0)) / (2 * n * n)
        deviations = [sum((a - c for c in v), mpf(0)) / n for a in v]
        return [
            exact(g) * d / mp.sqrt(variance + exact(eps)) + exact(b)
            for d, g, b in zip(deviations, gamma, beta, strict=True)
        ]

    def by_updates(x, gamma, beta, eps):  # type: ignore[no-untyped-def]
        mean, m2 = mpf(0), mpf(0)
        for k, a in enumerate(map(exact, x), start=1):
            delta = a - mean
            mean += delta / k
            m2 += delta * (a - mean)
        root = mp.sqrt(m2 / len(x) + exact(eps))
        return [(exact(a) - mean) / root * exact(g) + exact(b) for a, g, b in zip(x, gamma, beta, strict=True)]

    return {"square of the mean": by_square_of_mean, "differences": by_differences, "updates": by_updates}
