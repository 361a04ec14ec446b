"""What `lnorm compute` shows, computed: the traces of the rows asked for, and what to notice about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli import exact
from lnorm_cli.arithmetic import Exact, Float, to_exact
from lnorm_cli.backward import BackwardTrace, backward
from lnorm_cli.compare import Precision, compare, largest
from lnorm_cli.errors import InputError, UndefinedError
from lnorm_cli.norm import DEFAULT_EPS, NORMS, Layout, Spec, Trace, align, row_spec, trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

TITLES = {"layer": "LayerNorm", "rms": "RMSNorm", "batch": "BatchNorm (statistics of this batch)"}


@dataclass(frozen=True)
class Request:
    """A validated question: x, gamma and beta as arrays of one rank, an exact eps, a Spec."""

    norm: str
    spec: Spec
    x: Array
    gamma: Array
    beta: Array
    eps: exact.Exact
    arithmetic: Float
    exact: bool = True
    upstream: Array | None = None

    @property
    def layout(self) -> Layout:
        return Layout(self.x.shape, self.spec.axes)


@dataclass(frozen=True)
class Remark:
    """Something to notice: `text` with {} for each of `values`, which renderers write in their notation."""

    name: str
    text: str
    values: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Row:
    """One set of statistics: the row's place in x, its position in the traces, and what to notice."""

    number: int
    index: tuple[int, ...]
    position: int
    exact_position: int | None
    by_hand: tuple[exact.Exact, ...] | None = None
    precision: Precision | None = None
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True)
class Computation:
    """The traces of the rows asked for, in floating point and (where wanted) exactly."""

    request: Request
    float_trace: Trace
    exact_trace: Trace | None
    float_backward: BackwardTrace | None
    exact_backward: BackwardTrace | None
    rows: tuple[Row, ...] = field(default=())


def request(
    norm: str,
    x: Array,
    *,
    gamma: Any = None,
    beta: Any = None,
    eps: exact.Exact = DEFAULT_EPS,
    axes: tuple[int, ...] | None = None,
    dtype: str = "float64",
    accumulate: str | None = None,
    with_exact: bool = True,
    upstream: Any = None,
) -> Request:
    """Check and place every parameter; raises InputError naming the one that does not fit."""
    import numpy as np

    if norm not in NORMS:
        raise InputError(f"unknown norm {norm!r}", hint="one of layer, rms, batch")
    spec = NORMS[norm] if axes is None else replace(NORMS[norm], axes=axes)
    if norm == "batch":
        if x.ndim < 2:
            raise InputError(
                "BatchNorm takes its statistics over several examples, and x is one vector",
                hint='give a row for each example: lnorm compute --norm batch "[[1, 2], [3, 4], [5, 9]]"',
            )
        if axes is None:
            spec = replace(spec, axes=tuple(axis for axis in range(x.ndim) if axis != 1))
    if exact.sign(eps) < 0:
        raise InputError(f"eps is {exact.text(eps)}", hint="eps must be a finite number, 0 or greater")
    channels = norm == "batch"
    parameters = {
        name: align(value if value is not None else default, name, x.shape, spec, channels=channels)
        for name, value, default in (("gamma", gamma, Fraction(1)), ("beta", beta, Fraction(0)))
    }
    if upstream is not None:
        upstream = np.asarray(upstream)
        if upstream.shape != x.shape and not (upstream.size == 1 or upstream.size == x.size == upstream.shape[-1]):
            raise InputError(
                f"the upstream gradient has shape {upstream.shape}, x has {x.shape}",
                hint="give DY one number for each element of x",
            )
        upstream = np.broadcast_to(upstream.reshape(-1) if upstream.size == 1 else upstream.reshape(x.shape), x.shape)
    return Request(
        norm, spec, x, parameters["gamma"], parameters["beta"], eps, Float(dtype, accumulate), with_exact, upstream
    )


def compute(asked: Request, rows: list[int], exact_rows: list[int]) -> Computation:
    """Run the traces of `rows` (numbers from 0, row-major), the exact one for `exact_rows` among them.

    With an upstream gradient every row takes part, because dgamma and dbeta are sums over all of them.
    """
    layout = asked.layout
    _check_defined(asked, rows if asked.upstream is None else range(layout.count))
    if asked.upstream is not None:
        exact_rows = list(range(layout.count)) if asked.exact else []
    float_trace, float_backward = _run(asked, asked.arithmetic, None if asked.upstream is not None else rows)
    exact_trace = exact_backward = None
    if asked.exact and exact_rows:
        exact_trace, exact_backward = _run(asked, Exact(), None if asked.upstream is not None else exact_rows)
    made = []
    for order, number in enumerate(rows):
        position = number if asked.upstream is not None else order
        own = None
        if exact_trace is not None and number in exact_rows:
            own = number if asked.upstream is not None else exact_rows.index(number)
        row = Row(number, layout.index(number), position, own)
        if exact_trace is not None and own is not None:
            row = _observe(asked, row, exact_trace, float_trace)
        made.append(row)
    return Computation(asked, float_trace, exact_trace, float_backward, exact_backward, tuple(made))


def _run(
    asked: Request, arithmetic: Exact | Float, rows: list[int] | None
) -> tuple[Trace, BackwardTrace | None]:
    """The trace of some rows, or (None) of x whole, then with its backward trace."""
    if rows is not None:
        layout = asked.layout
        x, gamma, beta = (layout.rows(array)[rows] for array in (asked.x, asked.gamma, asked.beta))
        return trace(x, row_spec(asked.spec), arithmetic, gamma=gamma, beta=beta, eps=asked.eps), None
    forward = trace(asked.x, asked.spec, arithmetic, gamma=asked.gamma, beta=asked.beta, eps=asked.eps)
    return forward, backward(forward, asked.upstream, asked.gamma.shape)


def _check_defined(asked: Request, rows: Any) -> None:
    """With eps 0 a row without spread has no normalized value: 0/0."""
    if not exact.is_zero(asked.eps):
        return
    layout = asked.layout
    matrix = layout.rows(asked.x)
    for number in rows:
        row = to_exact(matrix[number])
        zero = exact.is_zero(row[0])
        if any(not exact.is_zero(exact.subtract(value, row[0])) for value in row[1:]):
            continue
        if asked.norm == "rms" and not zero:
            continue
        place = "" if layout.count == 1 else f" in row {number}"
        spread = "mean square" if asked.norm == "rms" else "variance"
        same = "is 0" if asked.norm == "rms" else "is the same"
        raise UndefinedError(
            f"{spread} 0 and eps 0{place}: every value {same}, so each normalized value is 0/0, "
            "which is undefined",
            hint="this is what epsilon is for: with any eps > 0 the output is exactly beta (try --eps 1e-5)",
        )


def _observe(asked: Request, row: Row, exact_trace: Trace, float_trace: Trace) -> Row:
    """What to notice about one row."""
    assert row.exact_position is not None
    here = row.exact_position
    precision = compare_rows(exact_trace, here, float_trace, row.position, asked.arithmetic)
    by_hand = None
    spread_name = "mean_square" if asked.norm == "rms" else "variance"
    spread = exact_trace[spread_name].value[here, 0]
    if not exact.is_zero(asked.eps) and not exact.is_zero(spread):
        layout = asked.layout
        x, gamma, beta = (layout.rows(a)[[row.number]] for a in (asked.x, asked.gamma, asked.beta))
        plain = trace(x, row_spec(asked.spec), Exact(), gamma=gamma, beta=beta, eps=0)
        by_hand = tuple(plain["output"].value[0])
    remarks = tuple(_remarks(asked, exact_trace, here, spread, precision))
    return replace(row, precision=precision, by_hand=by_hand, remarks=remarks)


def compare_rows(exact_trace: Trace, here: int, float_trace: Trace, there: int, arithmetic: Float) -> Precision:
    """`compare` for a row that stands at different positions in the two traces."""
    steps = tuple(replace(step, value=step.value[there : there + 1]) for step in float_trace)
    own = tuple(replace(step, value=step.value[here : here + 1]) for step in exact_trace)
    return compare(replace(exact_trace, steps=own), replace(float_trace, steps=steps), 0, arithmetic)


def _remarks(
    asked: Request, t: Trace, here: int, spread: exact.Exact, precision: Precision
) -> Iterator[Remark]:
    n = asked.layout.n
    eps = asked.eps
    if n == 1 and asked.norm != "rms":
        yield Remark("one-element", "A row of one element equals its own mean: x - mean is 0, so the output is beta, "
                     "whatever x, gamma and epsilon are.")  # fmt: skip
    elif exact.is_zero(spread):
        yield Remark("no-spread", "The row has no spread: its normalized values are exactly 0 and the output is "
                     "exactly beta.")  # fmt: skip
    else:
        total = exact.add(spread, eps)
        share = exact.divide(spread, total)
        if asked.norm == "rms":
            yield Remark("statistics", "The normalized vector has mean square {}: that is q/(q + epsilon) with q the "
                         "mean square of x{}. Its mean is not made 0.",
                         (share, _not_one(eps)))  # fmt: skip
        else:
            yield Remark("statistics", "The normalized vector has mean exactly 0 and variance {}: that is "
                         "var/(var + epsilon){}.", (share, _not_one(eps)))  # fmt: skip
        if exact.to_float(eps) > exact.to_float(spread) > 0:
            yield Remark("epsilon-rules", "Epsilon ({}) is larger than the {} ({}): it rules the divisor and shrinks "
                         "the output.", (eps, _spread(asked), spread))  # fmt: skip
    if asked.norm != "rms" and n > 1 and not exact.is_zero(spread):
        yield Remark("biased", "The variance divides by n = {}, not by n - 1. A standard deviation taken with n - 1 "
                     "is larger by the factor sqrt(n/(n - 1)) = {}.",
                     (Fraction(n), exact.power(Fraction(n, n - 1), Fraction(1, 2))))  # fmt: skip
    if any(exact.to_float(v) != 1 for v in t.parameters["gamma"].flat) or any(
        exact.to_float(v) != 0 for v in t.parameters["beta"].flat
    ):
        yield Remark("affine", "Gamma and beta choose a new range: the output need not have mean 0 and variance 1.")
    yield from _precision_remarks(asked, t, here, precision)


def _spread(asked: Request) -> str:
    return "mean square" if asked.norm == "rms" else "variance"


def _not_one(eps: exact.Exact) -> str:
    return "" if exact.is_zero(eps) else ", a little below 1"


def _precision_remarks(asked: Request, t: Trace, here: int, precision: Precision) -> Iterator[Remark]:
    name, statistics = asked.arithmetic.name, asked.arithmetic.accumulate
    if name in ("float16", "bfloat16") or statistics != name:
        yield Remark("rounding", f"Every operation is rounded to {name}, the statistics to {statistics}; the "
                     "normalized value is rounded before gamma multiplies it.")  # fmt: skip
    if precision.step is None:
        return
    step = precision.step.replace("_", " ")
    dtype = name if precision.step in ("x", "scaled", "output") else statistics
    if precision.kind == "overflow":
        biggest = max((exact.absolute(v) for v in t[precision.step].value[here]), key=exact.to_float)
        yield Remark("overflow", f"{dtype} overflows at the step '{step}': {{}} is beyond its largest number {{}}."
                     f"{_remedy(dtype)}", (biggest, Fraction(largest(dtype))))  # fmt: skip
    elif precision.kind == "underflow":
        yield Remark("underflow", f"{dtype} loses the step '{step}': the value is too small for it and becomes 0."
                     f"{_remedy(dtype)}")  # fmt: skip
    elif precision.kind == "cancellation":
        yield Remark("cancellation", f"In {dtype} the error enters at the step '{step}': the rounding of x, small "
                     "against x, is large against the difference. From there the output is off by {} of its "
                     "size.", (precision.output,))  # fmt: skip
    else:
        yield Remark("rounding-error", f"In {dtype} the error passes {16} roundings at the step '{step}'; the output "
                     "is off by {} of its size.", (precision.output,))  # fmt: skip


def _remedy(dtype: str) -> str:
    return "" if dtype in ("float64", "float32") else " Statistics in float32 mend it: --accumulate float32."
