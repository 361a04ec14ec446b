"""Mistakes of floating point, recognized by running the right Spec in the arithmetic that makes them.

The order of a sum changes its last bits, so several are tried. What no order reproduces bit by bit may still be known
by its size: the one-pass variance errs by about u (mean^2 + var), a two-pass one by u var.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.arithmetic import Float
from lnorm_cli.faults.answer import FLOAT64_DIGITS
from lnorm_cli.faults.infer import fit, points, square
from lnorm_cli.faults.problem import Problem
from lnorm_cli.norm import Spec, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

ORDERS = ("as numpy", "left to right", "right to left", "in 4 lanes", "in 8 lanes", "in 32 lanes", "rounded once")
_SHORTER = {
    "float64": ("float64", "float32", "float16", "bfloat16"),
    "float32": ("float32", "float16", "bfloat16"),
    "float16": ("float16",),
    "bfloat16": ("bfloat16",),
}
_LARGEST = {"float64": "1.797e308", "float32": "3.403e38", "float16": "65504", "bfloat16": "3.39e38"}


class Ordered(Float):
    """`Float` whose sums run in one of `ORDERS`."""

    def __init__(self, dtype: str, accumulate: str, order: str) -> None:
        super().__init__(dtype, accumulate)
        self.order = order

    @property
    def statistics(self) -> Ordered:
        return self if self.accumulate == self.name else Ordered(self.accumulate, self.accumulate, self.order)

    def sum(self, a: Array) -> Array:
        import numpy as np

        if self.order == "left to right":
            return self._rounded(lambda v: np.add.accumulate(v, axis=-1)[..., -1:], a)
        if self.order == "right to left":
            return self._rounded(lambda v: np.add.accumulate(v[..., ::-1], axis=-1)[..., -1:], a)
        if self.order == "rounded once":
            return self._rounded(self._rounded_once, a)
        if self.order.endswith("lanes"):
            return self._lanes(a, int(self.order.split()[1]))
        return super().sum(a)

    def _rounded_once(self, v: Array) -> Array:
        import numpy as np

        return np.add.reduce(v.astype(np.longdouble), axis=-1, keepdims=True).astype(self.dtype)

    def _lanes(self, a: Array, lanes: int) -> Array:
        import numpy as np

        missing = -a.shape[-1] % lanes
        padded = np.concatenate([a, np.zeros((*a.shape[:-1], missing), a.dtype)], axis=-1)
        parts = padded.reshape(*a.shape[:-1], -1, lanes)
        by_lane = self._rounded(lambda v: np.add.accumulate(v, axis=-2)[..., -1, :], parts)
        return self._rounded(lambda v: np.add.accumulate(v, axis=-1)[..., -1:], by_lane)


@dataclass(frozen=True)
class PrecisionFault:
    """A fault of precision with what gave it away, and the trace that shows it where one was found."""

    id: str
    evidence: str
    trace: Trace | None = None


def reproduced(problem: Problem) -> PrecisionFault | None:
    """The arithmetic that gives the answer bit by bit (or digit by digit), if one of those known to go wrong does."""
    spec = problem.spec
    one_pass = replace(spec, spread="one-pass") if spec.spread == "variance" else None
    for name in _SHORTER[problem.answer.dtype or "float64"]:
        for order in ORDERS:
            for wrong, dtype, accumulate in _arithmetics(spec, one_pass, problem.answer.dtype, name):
                t = problem.run(wrong, Ordered(dtype, accumulate, order))
                if _same(problem, t):
                    return _named(t, wrong, accumulate, order)
    return None


def _arithmetics(spec: Spec, one_pass: Spec | None, given: str, name: str) -> Iterator[tuple[Spec, str, str]]:
    """Specs with the dtype of the elements and that of the statistics, all of which lose digits somewhere."""
    if name != "float64":  # in float64 the right method is right
        yield spec, name, name
    if given and name != given:
        yield spec, given, name
    if one_pass is not None:
        yield one_pass, name, name
        if given and name != given:
            yield one_pass, given, name
        if name in ("float16", "bfloat16"):
            yield one_pass, name, "float32"


def _same(problem: Problem, t: Trace) -> bool:
    """Whether the answer is the trace's output: at the digits typed, or bit by bit but for single last places."""
    import numpy as np

    output = t.output.astype(np.float64)
    given = problem.answer.values
    shown = "float64" if problem.answer.digits >= FLOAT64_DIGITS else "float32"
    unit = problem.answer.unit or 2 * Float(shown).unit
    with np.errstate(all="ignore"):
        room = problem.answer.slack * (1 + 1e-9) + 2 * unit * np.abs(output)
        equal = (given == output) | (np.isnan(given) & np.isnan(output))
        near = equal | (np.abs(given - output) <= room)
    if not output.any() and not any(np.isinf(step.value.astype(np.float64)).any() for step in t.steps):
        return False  # zeros for tiny numbers are no evidence of a short type
    return bool(near.all()) and (problem.answer.unit is None or 2 * int(equal.sum()) >= equal.size)


def _named(t: Trace, spec: Spec, accumulate: str, order: str) -> PrecisionFault:
    import numpy as np

    how = f"sums {order}" if order != "as numpy" else "sums as numpy does them"
    for step in t.steps[1:]:
        if step.operation != "divide" and np.isinf(step.value.astype(np.float64)).any():
            words = f"In {accumulate} the step {step.name} exceeds {_LARGEST[accumulate]} and becomes inf."
            return PrecisionFault("overflow", words, t)
    if spec.spread == "one-pass":
        variance = float(t["variance"].value.astype(np.float64).min())
        return PrecisionFault(
            "one-pass-variance",
            f"mean(x^2) - mean(x)^2 in {accumulate} ({how}) gives exactly these numbers; "
            f"its smallest variance is {variance:.6g}.",
            t,
        )
    return PrecisionFault(
        "low-precision-statistics", f"Statistics in {accumulate} ({how}) give exactly these numbers.", t
    )


def by_size(problem: Problem, rows: Array) -> PrecisionFault | None:
    """One-pass variance or short statistics, told by how far each wrong row's implied numbers are off."""
    import numpy as np

    if problem.answer.unit is None or problem.spec.axes != (-1,) or "mean" not in (t := problem.run(problem.spec)):
        return None
    unit, n = problem.answer.unit, t.layout.n
    wrong = np.flatnonzero(~rows)[:64]
    errors, one_pass = [], True
    for row in wrong:
        given = t.layout.rows(problem.answer.values)[row]
        mean, variance = float(t["mean"].value[row, 0]), float(t["variance"].value[row, 0])
        reach = 16 * (8 + n**0.5) * unit * (square(mean) + variance)
        if np.isnan(given).all() or np.isinf(given).any():
            one_pass &= reach > variance
            continue
        line = fit(points(problem, t, int(row)))
        if line is None or not line.fits:
            return None
        error = square(line.divisor) - float(problem.floats[3]) - variance
        errors.append(error)
        one_pass &= abs(error) <= reach and abs(line.mean - mean) <= 64 * (8 + n**0.5) * unit * abs(mean)
        one_pass &= square(mean) > 16 * variance
    if one_pass and len(wrong):
        return PrecisionFault(
            "one-pass-variance",
            "The implied variances are off by no more, and no less regularly, than mean(x^2) - mean(x)^2 "
            f"loses in {problem.answer.dtype}.",
        )
    if len(errors) >= 4 and min(errors) < 0 < max(errors):
        return PrecisionFault(
            "low-precision-statistics",
            "The implied variances are off to both sides from row to row, as rounding does it, "
            f"and by more than {problem.answer.dtype} has to.",
        )
    return None
