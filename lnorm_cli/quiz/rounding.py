"""Hand calculation with rounding on the way: the same trace in an arithmetic that rounds what it writes down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from lnorm_cli import exact
from lnorm_cli.arithmetic import Exact
from lnorm_cli.errors import UndefinedError
from lnorm_cli.norm import Trace, trace
from lnorm_cli.quiz.rules import Rule, rounded

if TYPE_CHECKING:
    from lnorm_cli.arithmetic import Array

_HABITS = (
    ("power",),
    ("divide",),
    ("power", "divide"),
    ("divide", "multiply"),
    ("power", "divide", "multiply", "add", "subtract"),
)
"""Which results a person writes down rounded: only the root, only the quotients, each from there on."""

REACH = 10
"""How far (in units of the last place asked) such work may end from the exact value to pass as rounding."""


class ByHand(Exact):
    """Exact arithmetic whose results of some operations are rounded as the rule asks."""

    def __init__(self, rule: Rule, habit: tuple[str, ...]) -> None:
        self.rule = rule
        self.habit = habit

    @property
    def statistics(self) -> ByHand:
        return self

    def _written(self, operation: str, values: Array) -> Array:
        import numpy as np

        if operation not in self.habit:
            return values
        return np.frompyfunc(lambda value: at_place(exact.approximate(value), self.rule), 1, 1)(values)  # type: ignore[no-any-return]

    def add(self, a: Array, b: Array) -> Array:
        return self._written("add", super().add(a, b))

    def subtract(self, a: Array, b: Array) -> Array:
        return self._written("subtract", super().subtract(a, b))

    def multiply(self, a: Array, b: Array) -> Array:
        return self._written("multiply", super().multiply(a, b))

    def divide(self, a: Array, b: Array) -> Array:
        return self._written("divide", super().divide(a, b))

    def power(self, a: Array, exponent: Fraction) -> Array:
        return self._written("power", super().power(a, exponent))


def at_place(value: Fraction, rule: Rule) -> Fraction:
    """The value rounded as the rule asks; as it is where the rule is exact."""
    if value == 0 or (rule.figures is None and rule.decimals is None):
        return value
    return rounded(value, rule.place(value))


def by_rounding(
    right: Trace, rule: Rule, pick: Callable[[Trace], tuple[exact.Exact, ...]], *, x: Any, **parameters: Any
) -> Iterator[tuple[Fraction, ...]]:
    """Answers of careful people who rounded on the way, where they differ from the exact answer rounded once."""
    if rule.figures is None and rule.decimals is None:
        return
    exactly = [exact.approximate(value) for value in pick(right)]
    if all(at_place(value, rule) == value for value in exactly):
        return
    seen = set()
    for habit in _HABITS:
        try:
            run = trace(x, right.spec, ByHand(rule, habit), **parameters)
        except UndefinedError:
            continue
        values = tuple(at_place(exact.approximate(value), rule) for value in pick(run))
        wrong = any(not rule.accepts(a, v) for a, v in zip(values, exactly, strict=True))
        if near(values, exactly, rule) and wrong and values not in seen:
            seen.add(values)
            yield values


def near(given: Sequence[Fraction], exactly: Sequence[Fraction], rule: Rule) -> bool:
    """Whether rounding on the way may have moved the exact values to these; never where the rule is exact."""
    if rule.figures is None and rule.decimals is None:
        return False
    return all(
        abs(a - v) <= REACH * Fraction(10) ** rule.place(v) if v else a == 0
        for a, v in zip(given, exactly, strict=True)
    )
