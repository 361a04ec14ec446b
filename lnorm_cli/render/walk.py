"""One walk over a Computation, in terms of a few primitives that each format writes in its own way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from lnorm_cli import exact
from lnorm_cli.compute import Computation, Row
from lnorm_cli.norm import Step
from lnorm_cli.remarks import Remark
from lnorm_cli.render.notation import LONG, UNICODE
from lnorm_cli.render.writer import Column, Writer
from lnorm_cli.request import TITLES, Request

HEAD, TAIL = 6, 2
"""Of a long row, this many first and last elements are shown."""

WIDEST = 40
"""With exact values longer than this many characters the table shows the decimals alone."""

LONGEST = 48
"""Vectors of exact values longer than this many characters are not written out; --json has them."""


WHOLE = 17
"""Digits that hold all of a float64: what is given is not rounded."""


def shown_elements(n: int) -> list[int]:
    """Indexes of the elements of a row that are shown: all, or head and tail."""
    if n <= HEAD + TAIL + 2:
        return list(range(n))
    return [*range(HEAD), *range(n - TAIL, n)]


def walk(computation: Computation, out: Writer, digits: int, *, detailed: int = 1) -> None:
    """Write a computation: the first `detailed` rows step by step, then one line for each other."""
    layout, rows, n = computation.request.layout, computation.rows, out.notation
    out.title(_title(computation.request))
    word = "row" if computation.request.norm != "batch" else "feature"
    for row in rows[:detailed]:
        if layout.count > 1:
            out.section(f"{word} {list(row.index)}: {row.number + 1} of {layout.count}")
        RowWalk(computation, row, out, digits).write()
    if rows[detailed:]:
        left = layout.count - len(rows)
        out.section(
            f"the other {word}s{f' ({left} more are not shown; --row picks, --json holds all)' if left else ''}"
        )
    shown = shown_elements(layout.n)
    for row in rows[detailed:]:
        output = row.floats["output"]
        listed = n.listed([n.decimal(float(output[i]), digits) for i in shown], shown)
        out.other_row(f"{word} {list(row.index)}", listed)
    if computation.parameter_gradients:
        out.section("backward: the gradients of gamma and beta, summed over all that share one")
    for name, (floats, exacts) in computation.parameter_gradients.items():
        out.given(name, _values_text(out, floats.reshape(-1), None if exacts is None else exacts.reshape(-1), digits))


def _title(asked: Request) -> str:
    layout = asked.layout
    what = "feature" if asked.norm != "batch" else "example"
    size = f"{layout.n} {what}{'' if layout.n == 1 else 's'}"
    word = "rows" if asked.norm != "batch" else "features"
    rows = "" if layout.count == 1 else f", {layout.count} {word}"
    return f"{TITLES[asked.norm]} of {size}{rows}, in {asked.arithmetic.name}{' and exactly' if asked.exact else ''}"


def _values_text(out: Writer, floats: Any, exacts: Any | None, digits: int) -> str:
    """Exact values and their decimals in one text."""
    n, shown = out.notation, shown_elements(len(floats))
    decimals = [n.decimal(float(floats[i]), digits) for i in shown]
    if exacts is None:
        return n.listed(decimals, shown)
    written = n.listed([n.exact(exacts[i]) for i in shown], shown)
    if len(written) > 3 * LONGEST:
        return f"{n.about} {n.listed(decimals, shown)}"
    if any(is_off(exacts[i], float(floats[i])) for i in shown):
        return f"{written} {n.unequal} {n.listed(decimals, shown)}"
    same = all(map(is_same, (exacts[i] for i in shown), decimals))
    return f"{written} {'=' if same else n.about} {n.listed(decimals, shown)}"


class RowWalk:
    """The walk over one row."""

    def __init__(self, computation: Computation, row: Row, out: Writer, digits: int) -> None:
        self.computation = computation
        self.row = row
        self.out = out
        self.notation = out.notation
        self.digits = digits
        self.shown = shown_elements(computation.request.layout.n)

    def write(self) -> None:
        for name in ("x", "gamma", "beta"):
            self._given(name)
        self.out.given(self.notation.symbol("epsilon"), self._epsilon(self.computation.request.eps))
        forward = [step for step in self.computation.forward if step.operation != "given"]
        for number, step in enumerate(forward, start=1):
            self._step(number, step)
        self._table()
        if self.computation.backward:
            self.out.section("backward: the gradient with respect to x")
            self._given("upstream")
            for number, step in enumerate(self.computation.backward[1:], start=len(forward) + 1):
                self._step(number, step)
        notices = [self._remark(remark) for remark in self.row.remarks]
        if self.row.by_hand is not None:
            notices.insert(0, self._by_hand(self.row.by_hand))
        if notices:
            self.out.notices(notices)

    def _written(self, name: str) -> list[str]:
        """The shown values of a step or parameter, exact where they can be."""
        exacts = self.row.exacts
        if exacts is None:
            return self._decimals(name)
        return [self.notation.exact(exacts[name][i]) for i in self._elements(name)]

    def _decimals(self, name: str, digits: int = 0) -> list[str]:
        values = self.row.floats[name]
        return [self.notation.decimal(float(values[i]), digits or self.digits) for i in self._elements(name)]

    def _elements(self, name: str) -> list[int]:
        """The shown elements of a value: those of the row, or the one of a statistic."""
        return self.shown if len(self.row.floats[name]) > 1 else [0]

    def _given(self, name: str) -> None:
        values = self._written(name) if self.row.exacts is not None else self._decimals(name, WHOLE)
        written = self.notation.listed(values, self._elements(name))
        if name in ("gamma", "beta") and len(set(values)) == 1:
            written = values[0]
        self.out.given(self.notation.symbol(name), written)

    def _epsilon(self, eps: exact.Exact) -> str:
        """1e-5 = 1/100000: the usual writing beside the exact one, where epsilon is a power of ten."""
        written = self.notation.exact(eps)
        if isinstance(eps, Fraction) and 0 < eps < Fraction(1, 10):
            exponent = 1 - len(str(eps.denominator))
            if eps == Fraction(10) ** exponent:
                return f"{self.notation.power_of_ten(exponent)} = {written}"
        return written

    def _step(self, number: int, step: Step) -> None:
        symbol, formula = self.notation.symbol(step.name), self.notation.formula(step)
        left = formula if symbol == formula else f"{symbol} = {formula}"
        self.out.step(number, step.name.replace("_", " "), left, self._identity(step) or self._lines(step))

    def _identity(self, step: Step) -> list[tuple[str, str]]:
        """Says that a gamma of ones, or a beta of zeros, changes nothing."""
        name, neutral = {"scaled": ("gamma", 1), "output": ("beta", 0)}.get(step.name, ("", 0))
        exacts = self.row.exacts
        if exacts is None or name not in step.operands or any(value != neutral for value in exacts[name]):
            return []
        operand = next(operand for operand in step.operands if operand != name)
        n = self.notation
        return [("=", n.joined(n.symbol(operand), ", as ", n.symbol(name), f" is {neutral}"))]

    def _lines(self, step: Step) -> list[tuple[str, str]]:
        """The numbers put in, the exact value, the decimal; each with = or the sign for about.

        Rounded numbers put in come after the exact value, so that each line follows from the one above it.
        """
        n, name = self.notation, step.name
        shown, decimals = self._elements(name), self._decimals(name)
        listed, put_in = n.listed(decimals, shown), self._put_in(step)
        if self.row.exacts is None:
            return _distinct([put_in, ("=" if put_in[0] == "=" and self._is_whole(name) else n.about, listed)])
        values = [self.row.exacts[name][i] for i in shown]
        written = [n.exact(value) for value in values]
        value = n.listed(written, shown)
        if max(map(len, written)) > (LONGEST if len(written) > 1 else 3 * LONGEST):
            value = n.joined("", f"an exact value of {max(map(len, written))} characters, which --json prints")
        lines = [put_in, ("=", value)] if put_in[0] == "=" else [("=", value), put_in]
        if self._misses(name):
            dtype = self.computation.request.arithmetic.name
            lines.append((n.unequal, n.joined(listed, f" in {dtype}")))
        else:
            same = lines[-1][0] == "=" and all(map(is_same, values, decimals))
            lines.append(("=" if same else n.about, listed))
        return _distinct(lines)

    def _put_in(self, step: Step) -> tuple[str, str]:
        """The formula with numbers: exact ones where they are short, else decimals in all places."""
        n, exacts = self.notation, self.row.exacts
        operands = [self._written(name) for name in step.operands]
        relation = "="
        if exacts is None:
            relation = "=" if all(map(self._is_whole, step.operands)) else n.about
        else:
            values = [[exacts[name][i] for i in self._elements(name)] for name in step.operands]
            if max(len(UNICODE.exact(value)) for row in values for value in row) > LONG:
                operands = [[n.decimal(value, self.digits) for value in row] for row in values]
                if not all(all(map(is_same, row, texts)) for row, texts in zip(values, operands, strict=True)):
                    relation = n.about
        return relation, n.substituted(step, operands, self.computation.request.layout.n, self.shown)

    def _is_whole(self, name: str) -> bool:
        """Whether the shown decimals hold all digits of their floats."""
        floats = self.row.floats[name]
        pairs = zip(self._elements(name), self._decimals(name), strict=True)
        return all(
            math.isfinite(value := float(floats[i])) and is_same(Fraction(repr(value)), text) for i, text in pairs
        )

    def _misses(self, name: str) -> bool:
        """Whether a shown float is far from the exact value."""
        exacts, floats = self.row.exacts, self.row.floats[name]
        return exacts is not None and any(is_off(exacts[name][i], float(floats[i])) for i in self._elements(name))

    def _table(self) -> None:
        what = "feature" if self.computation.request.norm != "batch" else "example"
        columns = [Column(what, tuple(str(i + 1) for i in self.shown), "both")]
        for step in self.computation.forward:
            if not step.statistic and step.name != "scaled":
                columns += self._columns(step.name)
        if any(len(cell) > WIDEST for column in columns for cell in column.cells):
            columns = [column for column in columns if column.kind != "exact"]
        self.out.table(columns)

    def _columns(self, name: str) -> list[Column]:
        """The exact and the float column of one quantity, or one where they write the same numbers."""
        symbol, decimals = self.notation.symbol(name), tuple(self._decimals(name))
        if self.row.exacts is None:
            return [Column(symbol, decimals, "float")]
        values = [self.row.exacts[name][i] for i in self.shown]
        written = tuple(self.notation.exact(value) for value in values)
        if all(map(is_same, values, decimals)):
            return [Column(symbol, written, "both")]
        relation = self.notation.unequal if self._misses(name) else self.notation.about
        return [Column(symbol, written, "exact"), Column(f"{relation} {symbol}", decimals, "float")]

    def _by_hand(self, values: Sequence[exact.Exact]) -> str:
        n = self.notation
        written = n.listed([n.exact(values[i]) for i in self.shown], self.shown)
        decimals = [n.decimal(values[i], self.digits) for i in self.shown]
        result = f"{written} {n.about} {n.listed(decimals, self.shown)}"
        if all(is_same(values[i], text) for i, text in zip(self.shown, decimals, strict=True)):
            result = written
        elif len(written) > 3 * LONGEST:
            result = f"{n.about} {n.listed(decimals, self.shown)}"
        return f"By hand, with {n.inline(n.symbol('epsilon') + ' = 0')} as textbooks print it: {n.inline(result)}."

    def _remark(self, remark: Remark) -> str:
        return remark.text.format(*(self._remark_value(value) for value in remark.values))

    def _remark_value(self, value: Any) -> str:
        n = self.notation
        if isinstance(value, str):
            return value
        if isinstance(value, float):
            return n.inline(n.decimal(value, 2))
        decimal, written = n.decimal(value, self.digits), n.exact(value)
        if decimal.rstrip("0") == "1." and value != 1:  # the decimal would claim too much
            decimal = f"1 - {n.decimal(exact.subtract(Fraction(1), value), 3)}"
        if is_same(value, decimal) or len(written) > WIDEST:
            return n.inline(written if len(written) <= WIDEST // 2 else decimal)
        return n.inline(f"{written} {n.about} {decimal}")


def _distinct(lines: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Leave out a line that only repeats the one before."""
    return [line for i, line in enumerate(lines) if i == 0 or line[1] != lines[i - 1][1]]


def is_same(value: exact.Exact, decimal: str) -> bool:
    """Whether the printed decimal is the exact value."""
    if not isinstance(value, Fraction):
        return False
    try:
        return Fraction(decimal) == value
    except ValueError:
        return False


def is_off(value: exact.Exact, number: float) -> bool:
    """Whether a float misses the exact value by more than a hundredth of it."""
    if not math.isfinite(number):
        return True
    true = exact.approximate(value)
    return abs(Fraction(number) - true) > abs(true) / 100
