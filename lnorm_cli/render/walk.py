"""One walk over a Computation, in terms of a few primitives that each format writes in its own way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

from lnorm_cli import exact
from lnorm_cli.compute import TITLES, Computation, Remark, Row
from lnorm_cli.norm import Step, Trace
from lnorm_cli.render.notation import Notation

HEAD, TAIL = 6, 2
"""Of a long row, this many first and last elements are shown."""

ROWS_SHOWN = 12
"""Of many rows, text shows this many."""


@dataclass(frozen=True)
class Column:
    """One quantity, an entry a feature; `kind` says which side it shows, or that both write the same."""

    header: str
    cells: tuple[str, ...]
    kind: Literal["exact", "float", "both"]


class Writer(Protocol):
    """What a format must be able to write."""

    notation: Notation

    def title(self, text: str) -> None: ...
    def section(self, text: str) -> None: ...
    def given(self, name: str, value: str) -> None: ...
    def step(self, number: int, name: str, formula: str, lines: Sequence[tuple[str, str]]) -> None:
        """One step: its formula, then (relation, value) lines, relation one of "=" and the about sign."""

    def table(self, columns: Sequence[Column]) -> None: ...
    def notices(self, texts: Sequence[str]) -> None: ...
    def other_row(self, name: str, value: str) -> None: ...


def shown_elements(n: int) -> list[int]:
    """Indexes of the elements of a row that are shown: all, or head and tail."""
    if n <= HEAD + TAIL + 2:
        return list(range(n))
    return [*range(HEAD), *range(n - TAIL, n)]


def walk(computation: Computation, out: Writer, digits: int, *, all_rows: bool = False) -> None:
    """Write a computation: the first row step by step, then one line for each other (or all in full)."""
    asked = computation.request
    layout = asked.layout
    out.title(_title(computation))
    detailed = computation.rows if all_rows else computation.rows[:1]
    for row in detailed:
        if layout.count > 1:
            out.section(f"row {list(row.index)}: {row.number + 1} of {layout.count}")
        RowWalk(computation, row, out, digits).write()
    if computation.rows[len(detailed) :]:
        left = layout.count - len(computation.rows)
        out.section(f"the other rows{f' ({left} more are not shown; --row picks, --json holds all)' if left else ''}")
        for row in computation.rows[len(detailed) :]:
            values = computation.float_trace["output"].value[row.position]
            shown = shown_elements(layout.n)
            listed = out.notation.listed([out.notation.decimal(float(values[i]), digits) for i in shown], shown)
            out.other_row(f"row {list(row.index)}", listed)
    if computation.float_backward is not None:
        _write_parameter_gradients(computation, out, digits)


def _title(computation: Computation) -> str:
    asked = computation.request
    layout = asked.layout
    what = "feature" if asked.norm != "batch" else "example"
    size = f"{layout.n} {what}{'' if layout.n == 1 else 's'}"
    rows = "" if layout.count == 1 else f", {layout.count} rows"
    return f"{TITLES[asked.norm]} of {size}{rows}, in {asked.arithmetic.name} and exactly" if asked.exact else (
        f"{TITLES[asked.norm]} of {size}{rows}, in {asked.arithmetic.name}"
    )


class RowWalk:
    """The walk over one row."""

    def __init__(self, computation: Computation, row: Row, out: Writer, digits: int) -> None:
        self.computation = computation
        self.row = row
        self.out = out
        self.notation = out.notation
        self.digits = digits
        self.n = computation.request.layout.n
        self.shown = shown_elements(self.n)

    def write(self) -> None:
        c, row = self.computation, self.row
        self._givens()
        number = self._steps(c.float_trace, c.exact_trace, 0)
        self._table()
        if c.float_backward is not None:
            self.out.section("backward: the gradient with respect to x")
            self._steps(c.float_backward, c.exact_backward, number)
        notices = [self._remark(remark) for remark in row.remarks]
        if row.by_hand is not None:
            notices.insert(0, self._by_hand(row.by_hand))
        if notices:
            self.out.notices(notices)

    def _givens(self) -> None:
        c = self.computation
        traces = (c.float_trace, self.row.position), (c.exact_trace, self.row.exact_position)
        for name in ("x", "gamma", "beta"):
            values = self._values(name, *(traces[1] if traces[1][0] and traces[1][1] is not None else traces[0]))
            same = len(set(values)) == 1 and name != "x"
            text = values[0] if same else self.notation.listed([values[i % len(values)] for i in self.shown], self.shown)
            self.out.given(self.notation.symbol(name), text)
        eps = c.request.eps
        scientific = f"1e{len(str(eps.numerator)) - len(str(eps.denominator))}" if isinstance(eps, Fraction) else ""
        written = self.notation.exact(eps)
        power_of_ten = scientific and eps == Fraction(scientific) and eps < Fraction(1, 10)
        self.out.given(self.notation.symbol("epsilon"), f"{scientific} = {written}" if power_of_ten else written)

    def _values(self, name: str, trace: Trace | None, position: int | None, brief: bool = False) -> list[str]:
        """The written values of a step or parameter in this row."""
        assert trace is not None
        array = trace.value(name)
        row = array[(position or 0) % len(array)]
        if array.dtype != object:
            return [self.notation.decimal(float(value), self.digits) for value in row]
        write = self.notation.exact if not brief else lambda value: self.notation.brief(value, self.digits)
        return [write(value) for value in row]

    def _steps(self, float_trace: Trace, exact_trace: Trace | None, number: int) -> int:
        for step in float_trace:
            if step.operation == "given":
                if step.name == "upstream":
                    self.out.given(self.notation.symbol(step.name), self.notation.listed(
                        [v for i, v in enumerate(self._row_values("upstream", float_trace, exact_trace)) if i in self.shown],
                        self.shown))  # fmt: skip
                continue
            number += 1
            self.out.step(
                number,
                step.name.replace("_", " "),
                self._left_side(step),
                self._lines(step, float_trace, exact_trace),
            )
        return number

    def _row_values(self, name: str, float_trace: Trace, exact_trace: Trace | None, brief: bool = False) -> list[str]:
        if exact_trace is not None and self.row.exact_position is not None:
            return self._values(name, exact_trace, self.row.exact_position, brief)
        return self._values(name, float_trace, self.row.position, brief)

    def _left_side(self, step: Step) -> str:
        symbol, formula = self.notation.symbol(step.name), self.notation.formula(step)
        return formula if symbol == formula else f"{symbol} = {formula}"

    def _lines(self, step: Step, float_trace: Trace, exact_trace: Trace | None) -> list[tuple[str, str]]:
        lookup = self._lookup(float_trace)
        exact_lookup = self._lookup(exact_trace) if exact_trace is not None else None
        operands = []
        for name in step.operands:
            source = lookup[name], (exact_lookup or {}).get(name)
            operands.append(self._row_values(name, source[0], source[1], brief=True))
        about = self.notation.about
        put_in = self.notation.substituted(step, operands, self.n, self.shown)
        floats = float_trace[step.name].value[self.row.position]
        shown = self.shown if len(floats) > 1 else [0]
        decimals = [self.notation.decimal(float(floats[i]), self.digits) for i in shown]
        listed = self.notation.listed(decimals, shown)
        if exact_trace is None or self.row.exact_position is None:
            return _distinct([("=", put_in), ("=", listed)])
        values = [exact_trace[step.name].value[self.row.exact_position][i] for i in shown]
        written = [self.notation.exact(value) for value in values]
        same = all(map(_is_same, values, decimals))
        off = any(_is_off(value, float(floats[i])) for value, i in zip(values, shown, strict=True))
        identity = self._identity(step, exact_lookup)
        if identity:
            return [("=", identity)]
        put_in_exact = all(self._is_brief(name, lookup, exact_lookup) for name in step.operands)
        lines = [("=" if put_in_exact else about, put_in)]
        if max(map(len, written)) <= 160:
            lines.append(("=", self.notation.listed(written, shown)))
        else:
            lines.append(("=", f"(exactly {max(map(len, written))} characters long: --json prints it)"))
        if off:
            lines.append((self.notation.unequal, f"{listed} in {self.computation.request.arithmetic.name}"))
        else:
            lines.append(("=" if same else about, listed))
        return _distinct(lines)

    def _identity(self, step: Step, lookup: dict[str, Trace] | None) -> str:
        """Says that a gamma of ones, or a beta of zeros, changes nothing."""
        name, neutral = {"scaled": ("gamma", 1), "output": ("beta", 0)}.get(step.name, ("", 0))
        if lookup is None or name not in step.operands or self.row.exact_position is None:
            return ""
        parameter = lookup[name].value(name)
        if any(value != neutral for value in parameter[self.row.exact_position % len(parameter)]):
            return ""
        operand = next(operand for operand in step.operands if operand != name)
        return f"{self.notation.symbol(operand)}, as {self.notation.symbol(name)} is {neutral}"

    def _lookup(self, trace: Trace | None) -> dict[str, Trace]:
        """Which trace holds a name: backward steps use forward ones."""
        c = self.computation
        found: dict[str, Trace] = {}
        for candidate in (c.float_trace, c.float_backward) if trace in (c.float_trace, c.float_backward) else (
            c.exact_trace, c.exact_backward):  # fmt: skip
            if candidate is not None:
                found.update({step.name: candidate for step in candidate})
                found.update(dict.fromkeys(candidate.parameters, candidate))
        return found

    def _is_brief(self, name: str, lookup: dict[str, Trace], exact_lookup: dict[str, Trace] | None) -> bool:
        """Whether every shown value of an operand is written exactly."""
        full = self._row_values(name, lookup[name], (exact_lookup or {}).get(name))
        brief = self._row_values(name, lookup[name], (exact_lookup or {}).get(name), brief=True)
        return all(full[i % len(full)] == brief[i % len(brief)] for i in self.shown)

    def _table(self) -> None:
        c = self.computation
        names = [step.name for step in c.float_trace if not step.statistic and step.name != "scaled"]
        columns = [Column("feature" if c.request.norm != "batch" else "example", tuple(str(i + 1) for i in self.shown), "both")]
        for name in names:
            columns += self._columns(name)
        self.out.table(columns)

    def _columns(self, name: str) -> list[Column]:
        """The exact and the float column of one quantity, or one where they write the same numbers."""
        c = self.computation
        symbol = self.notation.symbol(name)
        floats = self._values(name, c.float_trace, self.row.position)
        decimals = tuple(floats[i] for i in self.shown)
        if c.exact_trace is None or self.row.exact_position is None:
            return [Column(symbol, decimals, "float")]
        values = [c.exact_trace[name].value[self.row.exact_position][i] for i in self.shown]
        written = tuple(self.notation.exact(value) for value in values)
        if all(map(_is_same, values, decimals)):
            return [Column(symbol, written, "both")]
        about = Column(f"{self.notation.about} {symbol}", decimals, "float")
        return [about] if max(map(len, written)) > 40 else [Column(symbol, written, "exact"), about]

    def _by_hand(self, values: Sequence[exact.Exact]) -> str:
        written = self.notation.listed([self.notation.exact(values[i]) for i in self.shown], self.shown)
        decimals = self.notation.listed([self.notation.decimal(values[i], self.digits) for i in self.shown], self.shown)
        text = f"By hand, with {self.notation.symbol('epsilon')} = 0 as textbooks print it: "
        if len(written) > 160:
            return f"{text}{self.notation.about} {decimals}."
        if all(_is_same(values[i], self.notation.decimal(values[i], self.digits)) for i in self.shown):
            return f"{text}{written}."
        return f"{text}{written} {self.notation.about} {decimals}."

    def _remark(self, remark: Remark) -> str:
        return remark.text.format(*(self._remark_value(value) for value in remark.values))

    def _remark_value(self, value: Any) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, float):
            return self.notation.decimal(value, 2)
        digits = self.digits
        while (decimal := self.notation.decimal(value, digits)) == "1.0" and value != 1 and digits < 40:
            digits += 1  # so near to 1 that it takes more figures to show it
        written = self.notation.exact(value)
        if _is_same(value, decimal) or len(written) > 40:
            return written if len(written) <= 22 else decimal
        return f"{written} {self.notation.about} {decimal}"


def _distinct(lines: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Leave out a line that only repeats the one before."""
    return [line for i, line in enumerate(lines) if i == 0 or line[1] != lines[i - 1][1]]


def _is_same(value: exact.Exact, decimal: str) -> bool:
    """Whether the printed decimal is the exact value."""
    if not isinstance(value, Fraction):
        return False
    try:
        return Fraction(decimal) == value
    except ValueError:
        return False


def _is_off(value: exact.Exact, number: float) -> bool:
    """Whether a float misses the exact value by more than a hundredth of it."""
    if not math.isfinite(number):
        return True
    true = exact.approximate(value)
    return abs(Fraction(number) - true) > abs(true) / 100


def _write_parameter_gradients(c: Computation, out: Writer, digits: int) -> None:
    out.section("backward: the gradients of gamma and beta, summed over all that share one")
    assert c.float_backward is not None
    for name in ("dgamma", "dbeta"):
        floats = getattr(c.float_backward, name).reshape(-1)
        shown = shown_elements(len(floats))
        text = out.notation.listed([out.notation.decimal(float(floats[i]), digits) for i in shown], shown)
        if c.exact_backward is not None:
            values = getattr(c.exact_backward, name).reshape(-1)
            written = out.notation.listed([out.notation.exact(values[i]) for i in shown], shown)
            same = all(_is_same(values[i], out.notation.decimal(float(floats[i]), digits)) for i in shown)
            if len(written) <= 160:
                text = f"{written} {'=' if same else out.notation.about} {text}"
        out.given(name, text)
