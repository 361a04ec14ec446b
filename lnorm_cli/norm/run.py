"""The one function that normalizes: any Spec, in any arithmetic, on arrays of any rank."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.arithmetic import Arithmetic, Exact
from lnorm_cli.errors import InputError
from lnorm_cli.layout import layout_of
from lnorm_cli.norm.spec import DEFAULT_EPS, LAYER, ROOTS, Spec
from lnorm_cli.norm.steps import Recorder, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]


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
    layout = layout_of(given.shape, spec.axes)
    values = {"epsilon": arithmetic.statistics.array([[eps]])}
    for name, parameter in (("gamma", gamma), ("beta", beta)):
        array = arithmetic.array(parameter)  # before it is broadcast: one conversion for each number given
        try:
            values[name] = array.reshape(1, 1) if array.size == 1 else layout.rows(array)
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
        operations = {**{power: name for name, power in ROOTS.items()}, Fraction(2): "square", Fraction(0): "one"}
        operation = operations[spec.power]
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
    if affine == "gamma-first":
        return gamma[..., :1], beta
    if affine == "beta-first":
        return gamma, beta[..., :1]
    if affine == "reversed":
        return gamma[..., ::-1], beta[..., ::-1]
    if affine == "beta-subtracted":
        return gamma, a.subtract(a.array([[0]]), beta)
    if affine == "gamma-divided":
        return a.divide(a.array([[1]]), gamma), beta
    gamma = a.array([[1]]) if affine in ("gamma-omitted", "omitted") else gamma
    beta = a.array([[0]]) if affine in ("beta-omitted", "omitted") else beta
    return gamma, beta
