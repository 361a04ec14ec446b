"""Residual connections, and the norm on either side of them, on a few numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli import exact
from lnorm_cli.arithmetic import Float
from lnorm_cli.errors import InputError
from lnorm_cli.explain.content import Note, Result, Table
from lnorm_cli.explain.demos.arguments import Arguments
from lnorm_cli.norm import DEFAULT_EPS, trace
from lnorm_cli.reading import parse_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]


class Sublayer:
    """A toy sublayer: one formula in z, applied to each feature."""

    def __init__(self, text: str) -> None:
        try:
            self.formula: Any = parse_number(text, names=("z",))
        except InputError as error:
            raise error.located("--sublayer") from None
        self.text = text

    def __call__(self, values: Array) -> Array:
        """The formula at each value, in float64."""
        return Float().array([self.at(value) for value in values])

    def at(self, value: Any) -> Any:
        """The formula at one exact or float value; InputError where it is no real number."""
        if isinstance(self.formula, Fraction):
            return self.formula
        import sympy

        exactly = isinstance(value, Fraction)
        z = sympy.Rational(value.numerator, value.denominator) if exactly else sympy.Float(float(value), 17)
        result = self.formula.subs(dict.fromkeys(self.formula.free_symbols, z))
        if not (result.is_real and result.is_finite):
            raise InputError(
                f"--sublayer: {self.text} is not a real number at z = {value}",
                hint="choose a formula such as 2*z",
            )
        return exact.tidy(result) if exactly else float(result)


def residual(arguments: Arguments) -> Sequence[Result]:
    """x, the update F(x), their sum, and x again."""
    x, sublayer = arguments.vector(), Sublayer(arguments.text("sublayer", "z/2", own=True))
    rows = []
    for value in x:
        update = sublayer.at(value)
        total = exact.add(value, update)
        rows.append(tuple(map(exact.text, (value, update, total, exact.subtract(total, update)))))
    return [Table(("x", "F(x)", "x + F(x)", "minus F(x)"), tuple(rows), f"F(z) = {sublayer.text}")]


def chain(arguments: Arguments) -> Sequence[Result]:
    """The gradient through a stack of equal slopes, without and with the shortcut."""
    depth = arguments.integer("depth", 12)
    rows = tuple(
        (text, exact.to_float(Fraction(text) ** depth), exact.to_float((1 + Fraction(text)) ** depth))
        for text in arguments.list("slopes")
    )
    return [Table(("slope of F", "without", "with shortcut"), rows, f"Gradient after {depth} layers:")]


def _post(x: Array, sublayer: Sublayer) -> Array:
    a = Float()
    return trace(a.add(x, sublayer(x)), arithmetic=a, eps=DEFAULT_EPS).output


def _pre(x: Array, sublayer: Sublayer) -> Array:
    a = Float()
    return a.add(x, sublayer(trace(x, arithmetic=a, eps=DEFAULT_EPS).output))


def placement(arguments: Arguments) -> Sequence[Result]:
    """One block in both orders (or in the one asked for), with mean and spread of its output."""
    sublayer = Sublayer(arguments.text("sublayer", "2*z", own=True))
    x = Float().array(arguments.own_vector())
    orders = [("post", "post-norm", _post), ("pre", "pre-norm", _pre)]
    wanted = arguments.text("order")
    shown = [(label, run(x, sublayer)) for name, label, run in orders if wanted in ("", name)]
    values = tuple(zip(*map(_plain, (x, *(output for _, output in shown))), strict=True))
    statistics = _statistics([x, *(output for _, output in shown)])
    head = ("x", *(label for label, _ in shown))
    return [Table(("", *head), (*(("", *row) for row in values), *statistics), f"f(z) = {sublayer.text}")]


def _plain(values: Array) -> list[float]:
    """Floats without the noise of their last digits, so that a mean of zero reads as zero."""
    return [round(float(value), 13) + 0.0 for value in values]


def _statistics(columns: Sequence[Array]) -> tuple[tuple[str | float, ...], ...]:
    traces = [trace(column, arithmetic=Float(), eps=0) for column in columns]
    return tuple(
        (label, *(_plain(done[step].value[0])[0] for done in traces))
        for label, step in (("mean", "mean"), ("std", "standard_deviation"))
    )


def final_norm(arguments: Arguments) -> Sequence[Result]:
    """A few pre-norm blocks, and the final norm of what they give."""
    sublayer = Sublayer(arguments.text("sublayer", "2*z", own=True))
    x = Float().array(arguments.own_vector())
    layers = int(arguments.text("layers", "1"))
    stream = x
    for _ in range(layers):
        stream = _pre(stream, sublayer)
    final = trace(stream, arithmetic=Float(), eps=DEFAULT_EPS).output
    columns = [x, stream, final]
    values = tuple(("", *row) for row in zip(*map(_plain, columns), strict=True))
    blocks = "1 block" if layers == 1 else f"{layers} blocks"
    return [
        Table(("", "x", blocks, "final norm"), (*values, *_statistics(columns)), f"f(z) = {sublayer.text}"),
        Note("The mean of x survives every pre-norm block whose update has mean zero."),
    ]
