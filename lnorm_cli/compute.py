"""What `lnorm compute` shows, computed: every step of the rows asked for, and what to notice about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli import exact
from lnorm_cli.arithmetic import Exact, Float, to_exact
from lnorm_cli.compare import Precision, compare
from lnorm_cli.errors import UndefinedError
from lnorm_cli.norm import BackwardTrace, Step, Trace, backward, row_spec, trace
from lnorm_cli.remarks import Remark, remark_on
from lnorm_cli.request import Request, request

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

__all__ = ["Computation", "Request", "Row", "compute", "request"]


@dataclass(frozen=True)
class Row:
    """One set of statistics: its place in x, and the values of every step and parameter by name.

    A value is an array of n entries, or of one for a statistic. `exacts` is None where exactness was not asked
    for; then there is neither `by_hand` (the output with epsilon 0) nor `precision`.
    """

    number: int
    index: tuple[int, ...]
    floats: Mapping[str, Array]
    exacts: Mapping[str, Array] | None = None
    by_hand: Sequence[exact.Exact] | None = None
    precision: Precision | None = None
    remarks: Sequence[Remark] = ()


@dataclass(frozen=True)
class Computation:
    """The steps in order, and their values row by row; the gradients of gamma and beta as (float, exact)."""

    request: Request
    forward: Sequence[Step]
    backward: Sequence[Step]
    rows: Sequence[Row]
    parameter_gradients: Mapping[str, tuple[Array, Array | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Side:
    """One arithmetic's traces, and which of the asked rows they hold."""

    trace: Trace
    back: BackwardTrace | None
    rows: Sequence[int]

    def row(self, number: int) -> dict[str, Array]:
        position = self.rows.index(number)
        return {**self.trace.row(position), **(self.back.row(position) if self.back else {})}


def compute(asked: Request, rows: Sequence[int], exact_rows: Sequence[int]) -> Computation:
    """Compute `rows` (numbers from 0, row-major), those of `exact_rows` exactly as well.

    With an upstream gradient every row takes part, because dgamma and dbeta are sums over all of them.
    Raises UndefinedError where epsilon is 0 and a row has no spread.
    """
    layout = asked.layout
    everything = range(layout.count)
    whole = asked.upstream is not None
    _check_defined(asked, everything if whole else rows)
    floats = _side(asked, asked.arithmetic, everything if whole else rows)
    exacts = None
    if asked.exact and exact_rows:
        exacts = _side(asked, Exact(), everything if whole else exact_rows)
    made = []
    for number in rows:
        exact_values = exacts.row(number) if exacts and number in exact_rows else None
        made.append(_row(asked, number, floats, exact_values))
    gradients = {}
    if floats.back is not None:
        own = exacts.back if exacts else None
        gradients = {
            "dgamma": (floats.back.dgamma, own.dgamma if own else None),
            "dbeta": (floats.back.dbeta, own.dbeta if own else None),
        }
    return Computation(asked, floats.trace.steps, floats.back.steps if floats.back else (), made, gradients)


def _side(asked: Request, arithmetic: Exact | Float, rows: Sequence[int]) -> _Side:
    """The trace of some rows or, with an upstream gradient, of x whole with its backward trace."""
    if asked.upstream is None:
        return _Side(_trace_rows(asked, arithmetic, rows, asked.eps), None, rows)
    forward = trace(asked.x, asked.spec, arithmetic, gamma=asked.gamma, beta=asked.beta, eps=asked.eps)
    return _Side(forward, backward(forward, asked.upstream, asked.gamma.shape), rows)


def _trace_rows(asked: Request, arithmetic: Exact | Float, rows: Sequence[int], eps: exact.Exact | int) -> Trace:
    layout, chosen = asked.layout, list(rows)
    x, gamma, beta = (layout.rows(array)[chosen] for array in (asked.x, asked.gamma, asked.beta))
    return trace(x, row_spec(asked.spec), arithmetic, gamma=gamma, beta=beta, eps=eps)


def _row(asked: Request, number: int, floats: _Side, exacts: dict[str, Array] | None) -> Row:
    values = floats.row(number)
    index = asked.layout.index(number)
    if exacts is None:
        return Row(number, index, values)
    precision = compare(floats.trace.steps, exacts, values, asked.arithmetic)
    spread = exacts["mean_square" if asked.norm == "rms" else "variance"][0]
    by_hand = None
    if not exact.is_zero(asked.eps) and not exact.is_zero(spread):
        by_hand = tuple(_trace_rows(asked, Exact(), [number], 0)["output"].value[0])
    remarks = tuple(remark_on(asked, exacts, spread, precision))
    return Row(number, index, values, exacts, by_hand, precision, remarks)


def _check_defined(asked: Request, rows: Sequence[int]) -> None:
    """With eps 0 a row without spread has no normalized value: 0/0."""
    if not exact.is_zero(asked.eps):
        return
    layout, rms = asked.layout, asked.norm == "rms"
    matrix = layout.rows(asked.x)
    for number in rows:
        values = to_exact(matrix[number])
        against = Fraction(0) if rms else values[0]
        if not all(exact.is_zero(exact.subtract(value, against)) for value in values):
            continue
        place = "" if layout.count == 1 else f" in row {number}"
        raise UndefinedError(
            f"{'mean square' if rms else 'variance'} 0 and eps 0{place}: every value is "
            f"{'0' if rms else 'the same'}, so each normalized value is 0/0, which is undefined",
            hint="this is what epsilon is for: with any eps > 0 the output is exactly beta (try --eps 1e-5)",
        )
