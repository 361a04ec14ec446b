"""A problem and an answer to it: runs a Spec on the problem and says whether the answer fits the result."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli import exact
from lnorm_cli.arithmetic import Arithmetic, Exact, Float, to_exact
from lnorm_cli.errors import InputError, UndefinedError
from lnorm_cli.exact import approximate
from lnorm_cli.faults.answer import Answer
from lnorm_cli.faults.condition import agrees, allowance, divisor_of
from lnorm_cli.faults.measured import measured
from lnorm_cli.layout import Layout, align
from lnorm_cli.norm import Spec, Trace, trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

MOST_EXACT = 1500
"""Up to this many elements are verified in exact arithmetic."""

_EXACT_HALF = Fraction(1, 2**180)
"""Relative room for the 250 bits to which irrational values are known."""


_RESIDUE = Fraction(4, 10**12)
"""Size, relative to the row's largest value, below which a typed number may stand for an exact 0."""


@dataclass(frozen=True)
class Problem:
    """x, gamma, beta (of x's rank), epsilon and the Spec asked for, with the answer, all in the shape of x.

    `measured`: numbers typed out of a program are held to what programs do on x, not to what rounding may do at worst;
    it is the share that is granted of the room that `faults.measured` gives (0: not so held).
    """

    x: Array
    gamma: Array
    beta: Array
    eps: exact.Exact
    spec: Spec
    answer: Answer
    step: str = "output"
    measured: float = 0.0
    memo: dict[str, Any] = field(init=False, repr=False, compare=False)
    layout: Layout = field(init=False)
    floats: tuple[Array, Array, Array, float] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "memo", {})
        object.__setattr__(self, "layout", Layout(self.x.shape, self.spec.axes))
        arithmetic = Float()
        numbers = tuple(arithmetic.array(array) for array in (self.x, self.gamma, self.beta))
        object.__setattr__(self, "floats", (*numbers, exact.to_float(self.eps)))

    @property
    def exactly(self) -> bool:
        """Whether results are compared in exact arithmetic."""
        return self.answer.typed and self.x.size <= MOST_EXACT

    def run(self, spec: Spec, arithmetic: Arithmetic | None = None, eps: Any = None) -> Trace:
        """The trace of a Spec on this problem; in float64 unless an arithmetic is named."""
        if arithmetic is None:
            x, gamma, beta, epsilon = self.floats
            epsilon = epsilon if eps is None else exact.to_float(eps)
            return trace(x, spec, Float(), gamma=gamma, beta=beta, eps=epsilon)
        eps = self.eps if eps is None else eps
        return trace(self.x, spec, arithmetic, gamma=self.gamma, beta=self.beta, eps=eps)

    def result(self, t: Trace) -> Array | None:
        """The step of the trace that was asked for, in rows; None where this trace has no such step."""
        return t.value(self.step) if self.step in t else None

    def given(self, layout: Layout) -> Array:
        """The answer's floats in the rows of that layout."""
        return self._in_rows(self.answer.values, layout)

    def _in_rows(self, array: Array, layout: Layout) -> Array:
        return array if self.step != "output" else layout.rows(array)

    def fits_widely(self) -> bool:
        """Whether the answer is right but for what a huge mean can do to rounding; long floating-point types only."""
        if self.answer.dtype not in ("float64", "float32"):
            return False
        t = self.run(self.spec)
        given, slack = self.given(t.layout), t.layout.rows(self.answer.slack)
        return bool(agrees(t, given, self.answer.unit or 0.0, self.answer.dtype, slack, wide=True).all())

    def most(self, t: Trace, eps: Any = None) -> Array | None:
        """What programs really do on these numbers, where that bounds the allowance; None where it does not."""
        if not self.measured or self.answer.dtype != "float32":
            return None
        room = measured(t, self.answer.dtype, lambda spec, arithmetic: self.run(spec, arithmetic, eps))
        return room * self.measured

    def granted(self, t: Trace) -> Array:
        """What rounding is granted in the answer's type, in rows."""
        import numpy as np

        with np.errstate(all="ignore"):
            allowed, most = allowance(t, self.answer.unit or 0.0, self.answer.dtype).total, self.most(t)
            return allowed if most is None else np.fmin(allowed, most)

    def reach(self) -> float:
        """The largest |x| / s; 0 where float64 holds none."""
        import numpy as np

        t = self.run(self.spec)
        with np.errstate(all="ignore"):
            ratios = np.abs(t["x"].value) / np.abs(divisor_of(t))
        return float(ratios[~np.isnan(ratios)].max(initial=0.0))

    def fits(self, spec: Spec, eps: Any = None) -> bool:
        """Whether the answer is what this Spec gives, as far as the answer's digits or type can show."""
        return bool(self.fitting_rows(spec, eps).all())

    def fitting_rows(self, spec: Spec, eps: Any = None) -> Array:
        """The same for each row of the Spec's own layout."""
        import numpy as np

        if self.exactly:
            try:
                return self._fits_exactly(self.run(spec, Exact(), eps))
            except UndefinedError:
                return self._fits_by_rows(spec, eps)
            except InputError:
                pass
        t = self.run(spec, None, eps)
        result = self.result(t)
        given = self.given(t.layout)
        if result is None or given.shape != result.shape:
            return np.zeros(1, dtype=bool)
        if self.answer.unit is not None and self.step == "output":
            slack = self._in_rows(self.answer.slack, t.layout)
            return agrees(t, given, self.answer.unit, self.answer.dtype, slack, most=self.most(t, eps))
        with np.errstate(all="ignore"):
            room = self._in_rows(self.answer.slack, t.layout) + (self.answer.unit or 2**-50) * 64 * np.abs(result)
            room = np.where(np.isfinite(result), room, 0.0)
            near = (np.abs(given - result) <= room) | (np.isnan(given) & np.isnan(result)) | (given == result)
        return np.asarray(near.all(axis=-1))

    def _fits_exactly(self, t: Trace) -> Array:
        import numpy as np

        result = self.result(t)
        answer = self.answer
        assert answer.exact is not None
        assert answer.half is not None
        given = self._in_rows(answer.exact, t.layout)
        if result is None or given.shape != result.shape:
            return np.zeros(1, dtype=bool)
        half = self._in_rows(answer.half, t.layout)
        finite = np.isfinite(self.given(t.layout))
        return np.array(
            [bool(finite[row].all()) and _row_within(given[row], result[row], half[row]) for row in range(len(given))]
        )

    def _fits_by_rows(self, spec: Spec, eps: Any) -> Array:
        """Row by row where exact arithmetic meets 0/0: there nan and inf must stand where float64 has them."""
        import numpy as np

        t = self.run(spec, None, eps)
        result = self.result(t)
        given = self.given(t.layout)
        if result is None or given.shape != result.shape:
            return np.zeros(1, dtype=bool)
        slack = self._in_rows(self.answer.slack, t.layout)
        with np.errstate(all="ignore"):
            room = np.where(np.isfinite(result), slack * (1 + 1e-9) + 2.0**-48 * np.abs(result), 0.0)
            near = (np.isnan(given) & np.isnan(result)) | (given == result) | (np.abs(given - result) <= room)
        return np.asarray(near.all(axis=-1))


def _row_within(given: Array, result: Array, half: Array) -> bool:
    values = [approximate(value) for value in result]
    residue = _RESIDUE * (max(abs(value) for value in values) or 1)
    return all(within(*item, residue) for item in zip(given, values, half, strict=True))


def within(given: Fraction, value: Fraction, half: Fraction, residue: Fraction) -> bool:
    """Whether a typed number stands for a value: not further away than half a unit, limits included.

    For an exact 0 a `residue` is let pass as well: what floating point leaves where numbers cancel.
    """
    return abs(given - value) <= (half if half else abs(value) * _EXACT_HALF) or (value == 0 and abs(given) <= residue)


def make_problem(
    x: Any, answer: Answer, gamma: Any, beta: Any, eps: exact.Exact, spec: Spec, step: str = "output"
) -> Problem:
    """Bring everything to the shape of x; InputError names what does not fit."""
    import numpy as np

    array = np.asarray(x)
    if array.dtype.kind in "OUiu":
        array = to_exact(array)
    if array.ndim == 0:
        array = array.reshape(1)
    parameters = [place(value, name, array.shape, spec) for value, name in ((gamma, "gamma"), (beta, "beta"))]
    return Problem(array, parameters[0], parameters[1], eps, spec, answer, step)


def place(value: Any, name: str, shape: tuple[int, ...], spec: Spec) -> Array:
    """gamma or beta with as many axes as x; along axis 0, as for BatchNorm, one for each feature."""
    import numpy as np

    channels = spec.axes == (0,) and len(shape) > 1

    array = np.asarray(value)
    if array.dtype.kind in "OUiu":
        array = to_exact(array)
    try:
        return align(array, name, shape, spec.axes, channels=channels)
    except InputError:
        if array.ndim <= len(shape) and all(
            own in (1, size) for own, size in zip(array.shape[::-1], shape[::-1], strict=False)
        ):
            return array.reshape([1] * (len(shape) - array.ndim) + list(array.shape))
        raise
