"""Invariance proved with letters: the same `trace`, run on symbols instead of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.explain.content import Note, Result, Table
from lnorm_cli.explain.demos.arguments import Arguments
from lnorm_cli.norm import Spec, Trace, trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

NEURONS, INPUTS = 3, 2


class Letters:
    """An arithmetic on arrays of sympy expressions."""

    name = "letters"

    @property
    def statistics(self) -> Letters:
        return self

    def array(self, values: Any) -> Array:
        import numpy as np
        import sympy

        result: Array = np.vectorize(sympy.sympify, otypes=[object])(values)
        return result

    def add(self, a: Array, b: Array) -> Array:
        return self.expand(a + b)

    def subtract(self, a: Array, b: Array) -> Array:
        return self.expand(a - b)

    def multiply(self, a: Array, b: Array) -> Array:
        return self.expand(a * b)

    def divide(self, a: Array, b: Array) -> Array:
        return a / b

    def power(self, a: Array, exponent: Fraction) -> Array:
        import sympy

        result: Array = a ** sympy.Rational(exponent.numerator, exponent.denominator)
        return result

    def absolute(self, a: Array) -> Array:
        return abs(a)

    def sum(self, a: Array) -> Array:
        return self.expand(a.sum(axis=-1, keepdims=True))

    def expand(self, values: Array) -> Array:
        """Every entry as a sum of products, so that equal ones look equal."""
        import numpy as np

        result: Array = np.vectorize(lambda value: value.expand(), otypes=[object])(values)
        return result


def invariances(arguments: Arguments) -> Sequence[Result]:
    """Which changes of the weights W and the data h leave LayerNorm(W h) as it was, at eps 0."""
    import numpy as np
    import sympy

    weights = np.array(sympy.symbols(f"w:{NEURONS * INPUTS}")).reshape(NEURONS, INPUTS)
    data = np.array(sympy.symbols(f"h:{INPUTS}"))
    c = sympy.Symbol("c", positive=True)
    shift = np.array(sympy.symbols(f"s:{INPUTS}"))
    one_row = np.array([[c]] + [[1]] * (NEURONS - 1))
    changes: list[tuple[str, Callable[[], Array]]] = [
        ("weight matrix times c", lambda: (c * weights) @ data),
        ("weight matrix: every row plus s", lambda: (weights + shift) @ data),
        ("one weight vector times c", lambda: (one_row * weights) @ data),
        ("all data times c", lambda: weights @ (c * data)),
        ("all data plus s", lambda: weights @ (data + shift)),
        ("one example times c", lambda: weights @ (c * data)),
    ]
    before = _trace(weights @ data)
    rows = tuple((label, *_verdict(before, _trace(change()), c)) for label, change in changes)
    return [
        Table(("change", "output", "why"), rows),
        Note("d: the deviations, var: the variance. x̂ = d/sqrt(var), so a common c cancels."),
    ]


def _trace(sums: Array) -> Trace:
    return trace(sums, Spec(epsilon="omitted"), Letters())


def _verdict(before: Trace, after: Trace, c: Any) -> tuple[str, str]:
    """Whether both traces give the same x̂, and by which identity (c is positive)."""
    letters = Letters()
    d, d_after = before["deviation"].value[0], after["deviation"].value[0]
    var, var_after = before["variance"].value, after["variance"].value
    for factor, why in ((1, "d and var as before"), (c, "d times c, var times c^2")):
        if not letters.expand(d_after - factor * d).any() and not letters.expand(var_after - factor**2 * var).any():
            return "the same", why
    proportional = not letters.expand(d_after[1:] * d[0] - d[1:] * d_after[0]).any()
    return ("unknown", "") if proportional else ("changes", "the d are no longer proportional")
