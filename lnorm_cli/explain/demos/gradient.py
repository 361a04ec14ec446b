"""The Jacobian of the normalized vector, and what detaching the statistics does."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli import exact
from lnorm_cli.arithmetic import Exact, Float
from lnorm_cli.explain.content import Note, Result, Table
from lnorm_cli.explain.demos.arguments import Arguments
from lnorm_cli.explain.demos.values import first, number, row
from lnorm_cli.norm import Trace, backward, trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]


def jacobian(arguments: Arguments) -> Sequence[Result]:
    """J 1 and J x̂ of a vector, and whether they are exactly 0 and eps x̂ / s^3."""
    x, eps = arguments.own_vector(), arguments.exact("eps")
    forward = trace(x, eps=eps)
    matrix = _jacobian(forward, len(x))
    xhat = row(forward, "normalized")
    a = Exact()
    ones = a.sum(matrix)[:, 0]
    stretched = a.sum(a.multiply(matrix, xhat))[:, 0]
    cubed = a.power(a.array([first(forward, "standard_deviation")]), Fraction(3))
    predicted = a.divide(a.multiply(a.array([eps]), xhat), cubed).reshape(-1)
    columns = [[number(value) for value in column] for column in (xhat, ones, stretched, predicted)]
    rows = tuple(zip(map(exact.text, x), *columns, strict=True))
    zero = all(exact.is_zero(value) for value in ones)
    equal = all(exact.is_zero(d) for d in a.subtract(stretched, predicted))
    return [
        Table(("x", "x̂", "J · 1", "J · x̂", "eps x̂ / s^3"), rows, f"eps = {arguments.text('eps')}:"),
        Note(f"Exactly: J · 1 {'is' if zero else 'is not'} zero, "
             f"and J · x̂ {'equals' if equal else 'differs from'} eps x̂ / s^3."),
    ]  # fmt: skip


def _jacobian(forward: Trace, n: int) -> Array:
    """Row i is the gradient of the i-th normalized value."""
    import numpy as np

    return np.array([backward(forward, unit)["dx"].value[0] for unit in np.eye(n, dtype=int)])


def backward_steps(arguments: Arguments) -> Sequence[Result]:
    """The formula's ingredients, and the gradient of each feature with gamma 1."""
    x, dy = arguments.vector(), arguments.vector("dy")
    forward = trace(x, eps=arguments.exact("eps"))
    done = backward(forward, dy)
    parts = (("mean(g)", "mean_gradient"), ("mean(g · x̂)", "mean_product"))
    rows = tuple((label, number(first(done, step))) for label, step in parts)
    s = ("s", number(first(forward, "standard_deviation")))
    features = tuple(
        (exact.text(value), exact.text(g), number(xhat), number(gradient))
        for value, g, xhat, gradient in zip(x, dy, row(forward, "normalized"), row(done, "dx"), strict=True)
    )
    total = Exact().sum(done["dx"].value)[0, 0]
    return [
        Table(("ingredient", "value"), (*rows, s)),
        Table(("x", "g", "x̂", "dx"), features),
        Note(f"The entries of dx sum to exactly {exact.text(total)}."),
    ]


def detached(arguments: Arguments) -> Sequence[Result]:
    """The gradient, and what it becomes when mean and variance are taken for constants."""
    x, dy = arguments.vector(), arguments.vector("dy")
    a = Float()
    forward = trace(x, arithmetic=a, eps=arguments.exact("eps"))
    right = backward(forward, dy)["dx"].value
    wrong = a.divide(a.array([dy]), forward["standard_deviation"].value)
    rows = tuple(zip(map(exact.text, x), right[0].tolist(), wrong[0].tolist(), strict=True))
    sums = [round(float(a.sum(values)[0, 0]), 13) + 0.0 for values in (right, wrong)]
    return [Table(("x", "dx", "detached"), (*rows, ("sum", *sums)))]
