"""One `trace` runs any `Spec` in any arithmetic and records its steps.

LayerNorm (Ba, Kiros, Hinton 2016), RMSNorm (Zhang, Sennrich 2019) and BatchNorm's training statistics (Ioffe,
Szegedy 2015) are three Specs of it; so is every known mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from lnorm_cli.arithmetic import Arithmetic, Exact
from lnorm_cli.errors import InputError
from lnorm_cli.layout import Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

HALF = Fraction(1, 2)
ROOTS = {"root": HALF, "fourth_root": Fraction(1, 4), "reciprocal_root": -HALF}
"""Operations that raise to a power, by name."""
SUMS = ("mean", "unbiased_mean", "sum")
"""Operations that make one number of a row."""

DEFAULT_EPS = Fraction(1, 100_000)
"""1e-5, the default of torch.nn.LayerNorm."""


@dataclass(frozen=True)
class Spec:
    """Which normalization: what is subtracted, what divides, where epsilon, gamma and beta enter.

    axes       the axes that share one mean and variance (a "row" of n elements)
    numerator  x - mean ("centered"), x ("raw") or mean - x ("flipped")
    spread     what measures the row's size: the variance, computed in two passes or in one
               (mean of squares minus square of mean), the mean square, or the mean absolute deviation
    divisor    what the sum behind the spread is divided by: n, n-1, or 1
    epsilon    added inside the power, outside it, after the division; alone under it; or omitted
    power      of spread + epsilon, which then divides: 1/2 is the root
    affine     how gamma and beta enter
    pool       which elements enter the statistics: the row; the row with `padding` zeros, for mean and
               variance or for the variance alone; the row without its last `padding` elements; the row and
               the first `padding` elements of the next (zeros after the last row); or "column": row i's
               statistics meet column i, as when keepdims is forgotten
    """

    axes: tuple[int, ...] = (-1,)
    numerator: Literal["centered", "raw", "flipped"] = "centered"
    spread: Literal["variance", "one-pass", "mean-square", "mean-absolute"] = "variance"
    divisor: Literal["n", "n-1", "1"] = "n"
    epsilon: Literal["inside", "outside", "after", "alone", "omitted"] = "inside"
    power: Fraction = HALF
    affine: Literal[
        "scale-shift", "shift-scale", "gamma-omitted", "beta-omitted", "omitted", "swapped", "one-plus-gamma",
        "first-only", "reversed",
    ] = "scale-shift"  # fmt: skip
    pool: Literal["row", "column", "padded", "padded-variance", "truncated", "neighbours"] = "row"
    padding: int = 0


LAYER = Spec()
RMS = Spec(numerator="raw", spread="mean-square")
BATCH = Spec(axes=(0,))
NORMS: Mapping[str, Spec] = {"layer": LAYER, "rms": RMS, "batch": BATCH}


@dataclass(frozen=True)
class Step:
    """One recorded value: `operation` applied to the steps and parameters named in `operands`.

    `value` has shape (rows, n) or, for a `statistic`, (rows, 1).
    """

    name: str
    operation: str
    operands: tuple[str, ...]
    value: Array
    statistic: bool = False


@dataclass(frozen=True)
class Trace:
    """Every step of one normalization in one arithmetic, in order; `trace["variance"]` finds one."""

    spec: Spec
    arithmetic: Arithmetic
    layout: Layout
    steps: tuple[Step, ...]
    parameters: Mapping[str, Array]

    def __getitem__(self, name: str) -> Step:
        for step in self.steps:
            if step.name == name:
                return step
        raise KeyError(name)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __contains__(self, name: object) -> bool:
        return any(step.name == name for step in self.steps)

    def value(self, name: str) -> Array:
        """The value of a step or parameter."""
        return self.parameters[name] if name in self.parameters else self[name].value

    def row(self, position: int) -> dict[str, Array]:
        """Every parameter and step of one row, by name: n values, or one for a statistic."""
        values = {**self.parameters, **{step.name: step.value for step in self.steps}}
        return {name: array[position % len(array)] for name, array in values.items()}

    @property
    def output(self) -> Array:
        """The result, in the shape of x."""
        return self.layout.restore(self.steps[-1].value)


class Recorder:
    """Runs operations in an arithmetic and keeps each as a Step."""

    def __init__(self, arithmetic: Arithmetic, values: dict[str, Array]) -> None:
        self.arithmetic = arithmetic
        self.values = values
        self.steps: list[Step] = []
        self.statistics = {"epsilon"}

    def note(self, name: str, operation: str, operands: tuple[str, ...], value: Array) -> Array:
        self.values[name] = value
        statistic = operation in SUMS or (bool(operands) and self.statistics.issuperset(operands))
        if statistic:
            self.statistics.add(name)
        self.steps.append(Step(name, operation, operands, value, statistic))
        return value

    def apply(self, name: str, operation: str, *operands: str) -> Array:
        """Run `operation` on the named values, in the arithmetic set at the time."""
        a = self.arithmetic
        values = [self.values[operand] for operand in operands]
        if operation == "square":
            value = a.multiply(values[0], values[0])
        elif operation in ROOTS:
            value = a.power(values[0], ROOTS[operation])
        elif operation == "mean":
            value = a.divide(a.sum(values[0]), a.array([[values[0].shape[-1]]]))
        else:
            value = getattr(a, operation)(*values)
        return self.note(name, operation, operands, value)


def trace(
    x: Any,
    spec: Spec = LAYER,
    arithmetic: Arithmetic | None = None,
    *,
    gamma: Any = 1,
    beta: Any = 0,
    eps: Any = DEFAULT_EPS,
) -> Trace:
    """Normalize `x` as `spec` says, in `arithmetic` (default `Exact()`), and record every step.

    x is array-like of any rank, of ints, floats, strings in lnorm's grammar or exact values; gamma and beta
    broadcast against it as in numpy (`align` places them along other axes). With `Exact` a division by zero
    raises UndefinedError; with `Float` it gives nan or inf as in the libraries.
    """
    import numpy as np

    arithmetic = arithmetic or Exact()
    given = np.asarray(x)
    if given.size == 0:
        raise InputError("x is empty", hint="give at least one number")
    if given.ndim == 0:
        given = given.reshape(1)
    layout = Layout(given.shape, spec.axes)
    values = {"epsilon": arithmetic.statistics.array([[eps]] if np.ndim(eps) == 0 else eps)}
    for name, parameter in (("gamma", gamma), ("beta", beta)):
        array = np.asarray(parameter)
        try:
            values[name] = arithmetic.array(array.reshape(1, 1) if array.size == 1 else layout.rows(array))
        except ValueError:
            raise InputError(f"{name} has shape {array.shape}, x has {given.shape}") from None
    record = Recorder(arithmetic, values)
    record.note("x", "given", (), arithmetic.array(layout.rows(given)))
    record.arithmetic = arithmetic.statistics
    numerator = _statistics(record, spec)
    divisor = _divisor(record, spec)
    record.arithmetic = arithmetic
    _normalize(record, spec, numerator, divisor)
    _affine(record, spec)
    parameters = {name: record.values[name] for name in ("epsilon", "gamma", "beta")}
    return Trace(spec, arithmetic, layout, tuple(record.steps), parameters)


def _statistics(record: Recorder, spec: Spec) -> str:
    """Mean and spread of each row; returns the name of the numerator."""
    mean_of, spread_of = _pools(record, spec)
    deviations = spec.spread in ("variance", "mean-absolute")
    if spec.numerator != "raw" or spec.spread != "mean-square":
        record.apply("mean", "mean", mean_of)
    if spec.numerator != "raw" or deviations:
        record.apply("deviation", "subtract", "x", "mean")
    if deviations:
        name = "deviation"
        if spread_of != "x":
            name = "pooled_deviation"
            record.apply(name, "subtract", spread_of, "mean")
        if spec.spread == "variance":
            record.apply("squared_deviation", "square", name)
            _average(record, "variance", "squared_deviation", spec)
        else:
            record.apply("absolute_deviation", "absolute", name)
            _average(record, "mean_absolute_deviation", "absolute_deviation", spec)
    else:
        record.apply("square", "square", spread_of)
        _average(record, "mean_square", "square", spec)
    if spec.spread == "one-pass":
        record.apply("squared_mean", "square", "mean")
        record.apply("variance", "subtract", "mean_square", "squared_mean")
    if spec.pool == "column":
        return _swap_statistics(record, spec)
    if spec.numerator == "flipped":
        record.apply("flipped_deviation", "subtract", "mean", "x")
        return "flipped_deviation"
    return "x" if spec.numerator == "raw" else "deviation"


def _pools(record: Recorder, spec: Spec) -> tuple[str, str]:
    """Names of the elements that the mean and the spread are taken of."""
    if spec.pool in ("row", "column") or not spec.padding:
        return "x", "x"
    import numpy as np

    x = record.values["x"]
    if spec.pool == "truncated":
        pool = x[..., : max(1, x.shape[-1] - spec.padding)]
    else:
        extra = record.arithmetic.array(np.zeros((x.shape[0], spec.padding), dtype=int))
        if spec.pool == "neighbours":
            extra[:-1] = x[1:, : spec.padding]
        pool = np.concatenate([x, extra], axis=-1)
    record.note("pool", "given", (), pool)
    return ("x" if spec.pool == "padded-variance" else "pool"), "pool"


def _average(record: Recorder, name: str, summed: str, spec: Spec) -> None:
    """The sum along a row over n, n-1 or 1."""
    elements = record.values["x" if spec.pool == "padded-variance" else summed].shape[-1]
    if spec.divisor == "n" and elements == record.values[summed].shape[-1]:
        record.apply(name, "mean", summed)
        return
    a = record.arithmetic
    total = a.sum(record.values[summed])
    count = {"n": elements, "n-1": elements - 1, "1": 1}[spec.divisor]
    operation = {"n": "mean", "n-1": "unbiased_mean", "1": "sum"}[spec.divisor]
    record.note(name, operation, (summed,), a.divide(total, a.array([[count]])))


def _swap_statistics(record: Recorder, spec: Spec) -> str:
    """Turn (rows, 1) statistics into (1, rows): numpy then meets column i with the statistics of row i."""
    rows, n = record.values["x"].shape
    if rows != n:
        raise InputError(f"statistics of {rows} rows do not fit {n} columns")
    for name in ("mean", "variance", "mean_square", "mean_absolute_deviation"):
        if name in record.values:
            record.values[name] = record.values[name].T
    if spec.numerator == "raw":
        return "x"
    record.apply("misaligned_deviation", "subtract", "x", "mean")
    return "misaligned_deviation"


def _divisor(record: Recorder, spec: Spec) -> str:
    """The divisor's steps: spread, epsilon, power; returns the last one's name."""
    spread = {"mean-square": "mean_square", "mean-absolute": "mean_absolute_deviation"}.get(spec.spread, "variance")
    root = {"mean_square": "root_mean_square", "variance": "standard_deviation"}.get(spread, "divisor")
    name = spread
    if spec.epsilon == "inside":
        name = f"{spread}_plus_epsilon"
        record.apply(name, "add", spread, "epsilon")
    elif spec.epsilon == "alone":
        name = "epsilon"
    if spec.power != 1:
        operation = next(key for key, exponent in ROOTS.items() if exponent == spec.power)
        record.apply(root, operation, name)
        name = root
    if spec.epsilon == "outside":
        record.apply(f"{name}_plus_epsilon", "add", name, "epsilon")
        name = f"{name}_plus_epsilon"
    return name


def _normalize(record: Recorder, spec: Spec, numerator: str, divisor: str) -> None:
    a = record.arithmetic
    quotient = a.array(a.statistics.divide(record.values[numerator], record.values[divisor]))
    name = "quotient" if spec.epsilon == "after" else "normalized"
    record.note(name, "divide", (numerator, divisor), quotient)
    if spec.epsilon == "after":
        record.apply("normalized", "add", "quotient", "epsilon")


def _affine(record: Recorder, spec: Spec) -> None:
    values = record.values
    values["gamma"], values["beta"] = _parameters(record.arithmetic, spec.affine, values["gamma"], values["beta"])
    if spec.affine == "shift-scale":
        record.apply("shifted", "add", "normalized", "beta")
        record.apply("output", "multiply", "shifted", "gamma")
    else:
        record.apply("scaled", "multiply", "gamma", "normalized")
        record.apply("output", "add", "scaled", "beta")


def _parameters(a: Arithmetic, affine: str, gamma: Array, beta: Array) -> tuple[Array, Array]:
    """Gamma and beta as they take part."""
    if affine == "swapped":
        return beta, gamma
    if affine == "one-plus-gamma":
        return a.add(a.array([[1]]), gamma), beta
    if affine == "first-only":
        return gamma[..., :1], beta[..., :1]
    if affine == "reversed":
        return gamma[..., ::-1], beta[..., ::-1]
    gamma = a.array([[1]]) if affine in ("gamma-omitted", "omitted") else gamma
    beta = a.array([[0]]) if affine in ("beta-omitted", "omitted") else beta
    return gamma, beta


def row_spec(spec: Spec) -> Spec:
    """The same normalization on an array already in rows."""
    return replace(spec, axes=(-1,))
