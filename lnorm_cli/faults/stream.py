"""Large arrays, judged slice by slice in bounded memory.

A slice that stays in the cache is normalized in float32 (float64 arrays in float64) and set against the given
numbers at a few roundings of their dtype. Slices beyond that are suspects, nothing more: they are judged again in
float64 by the rules of `condition`, and a sample of what is wrong is explained like any small array. Pages of
mapped files are given back on the way.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.arithmetic import Float
from lnorm_cli.faults.answer import Answer
from lnorm_cli.faults.candidates import pieces
from lnorm_cli.faults.closer import closer_epsilon
from lnorm_cli.faults.conclude import in_words
from lnorm_cli.faults.diagnosis import Diagnosis
from lnorm_cli.faults.finding import Finding
from lnorm_cli.faults.judge import find
from lnorm_cli.faults.problem import Problem, make_problem
from lnorm_cli.faults.slips import implied
from lnorm_cli.faults.words import how_compared
from lnorm_cli.layout import Layout
from lnorm_cli.norm import Spec, trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

_CHUNK = 3 << 16
_RELEASE = 1 << 23
_SAMPLE, _SAMPLE_ELEMENTS = 16, 1 << 13
_SAMPLE_SIZE = 1 << 18
_JUDGED = 1 << 20
"""Up to this many elements all suspects are judged in float64; of more, enough for a sample."""

_ROUNDINGS = 32
_MOST_SQUARE = 1 << 22
_LINE = 16
"""Least elements side by side that are worth reading across rows."""


@dataclass(frozen=True)
class Stream:
    """A large problem: arrays of one shape, gamma and beta of the same rank, and the axis along which it is cut."""

    x: Array
    given: Array
    gamma: Array
    beta: Array
    eps: Any
    spec: Spec
    dtype: str

    @cached_property
    def layout(self) -> Layout:
        return Layout(self.x.shape, self.spec.axes)

    @cached_property
    def axis(self) -> int | None:
        """The axis to cut along: the first that numbers rows; None where all axes are reduced."""
        return self.layout.kept[0] if self.layout.kept else None

    @cached_property
    def size(self) -> int:
        """Elements of a slice along that axis."""
        return int(self.x.size // self.x.shape[self.axis or 0])

    @cached_property
    def sample(self) -> int:
        """How many wrong slices are explained."""
        return max(2, min(_SAMPLE, _SAMPLE_ELEMENTS // self.size))

    def cut(self, part: Any) -> tuple[Array, Array, Array, Array]:
        """x, given, gamma and beta of some slices."""
        assert self.axis is not None
        index = (slice(None),) * self.axis + (part,)
        return (self.x[index], self.given[index], *self._parameters(part))

    def problem(self, part: Any) -> Problem:
        """Some slices as a problem of their own."""
        import numpy as np

        x, given = (self._copied(array, part) for array in (self.x, self.given))
        gamma, beta = self._parameters(part)
        answer = Answer(given.astype(np.float64), None, None, Float(self.dtype).unit, self.dtype, 0)
        return make_problem(x, answer, gamma, beta, self.eps, self.spec)

    def _parameters(self, part: Any) -> tuple[Array, Array]:
        assert self.axis is not None
        index = (slice(None),) * self.axis + (part,)
        gamma, beta = (p if p.shape[self.axis] == 1 else p[index] for p in (self.gamma, self.beta))
        return gamma, beta

    def _copied(self, array: Array, part: Any) -> Array:
        """Slices copied out of a mapped file; across its rows a block at a time, so that its pages can go again."""
        import numpy as np

        assert self.axis is not None
        if self.axis == 0:
            return np.array(array[part])
        index = (slice(None),) * self.axis + (part,)
        step = max(1, _RELEASE // max(1, array[0].size))
        blocks = []
        for start in range(0, len(array), step):
            blocks.append(np.array(array[start : start + step][index]))
            release(array)
        return np.concatenate(blocks)


def diagnose_large(stream: Stream) -> Diagnosis:
    """The diagnosis of a large problem. What is wrong is explained from a sample of the wrong slices."""
    import numpy as np

    suspects = np.flatnonzero(suspicious(stream))
    wrong, all_judged = _wrong_slices(stream, suspects)
    if not wrong:
        typical = stream.problem(slice(0, max(1, _SAMPLE_SIZE // stream.size)))
        closer = closer_epsilon(typical)
        if closer is not None:
            return replace(in_words(typical, closer), row=(), worst=None)
        return Diagnosis("correct", "Correct.", tolerance=how_compared(typical))
    sample = stream.problem(np.array(wrong[: stream.sample]))
    rows = sample.fitting_rows(sample.spec)
    found = find(sample)
    if not found.candidates:
        found = _along_other_axes(stream, sample) or found
    total = stream.x.shape[stream.axis or 0]
    slices = f"slices along axis {stream.axis}"
    if len(stream.x.shape) == 2:
        slices = "columns" if stream.axis else "rows"
    counted = wrong if all_judged else suspects.tolist()
    how = "rounding" if all_judged else f"{_ROUNDINGS} roundings of {stream.dtype}"
    places = ", ".join(map(str, counted[:6])) + (", ..." if len(counted) > 6 else "")
    told = f"{len(counted)} of {total} {slices} differ by more than {how} ({places}); "
    told += f"explained from {int((~rows).sum())} of them."
    evidence = tuple(line for line in found.evidence if not line.startswith("Wrong in"))
    diagnosis = in_words(sample, replace(found, evidence=(told, *evidence)))
    return replace(diagnosis, row=(), worst=None)


def suspicious(stream: Stream) -> Array:
    """For each slice along the cut axis, whether its numbers are more than a few roundings away."""
    import numpy as np

    axis = stream.axis
    assert axis is not None
    count = stream.x.shape[axis]
    step = max(1 if axis == 0 else _LINE, _CHUNK // stream.size)
    dtype = "float64" if stream.dtype == "float64" else "float32"
    unit = Float(stream.dtype).unit
    result = np.zeros(count, dtype=bool)
    allowed = _ROUNDINGS * unit * (2 * np.abs(stream.gamma.astype(float)) + np.abs(stream.beta.astype(float)))
    room = allowed.astype(dtype)
    others = tuple(i for i in range(stream.x.ndim) if i != axis)
    flat = stream.spec.axes in ((-1,), (stream.x.ndim - 1,)) and stream.x.ndim == 2

    def judge(starts: range) -> None:
        arithmetic = Reused(dtype)
        for start in starts:
            part = slice(start, start + step)
            x, given, gamma, beta = stream.cut(part)
            arithmetic.begin(x.shape)
            t = trace(x, stream.spec, arithmetic, gamma=gamma, beta=beta, eps=float(stream.eps))
            output = t.steps[-1].value if flat else t.output
            off = arithmetic.absolute(arithmetic.subtract(given, output))
            limit = room if room.shape[axis] == 1 else room[(slice(None),) * axis + (part,)]
            result[part] = ~(off <= limit).all(axis=others)

    workers = min(4, os.cpu_count() or 1)
    batch = step * max(1, _RELEASE // max(1, step * stream.size))
    with ThreadPoolExecutor(workers) as pool:
        for first in range(0, count, batch):
            end = min(count, first + batch)
            list(pool.map(judge, (range(first + i * step, end, workers * step) for i in range(workers))))
            release(stream.x)
            release(stream.given)
    return result


class Reused(Float):
    """`Float` whose results stand in the arrays of its last run, which did the same operations on the same shape.

    A fresh array of this size costs more than the numbers in it: the system hands out its pages anew each time.
    """

    def __init__(self, dtype: str) -> None:
        super().__init__(dtype)
        self._shape: tuple[int, ...] = ()
        self._results: list[Array] = []
        self._done = 0

    def begin(self, shape: tuple[int, ...]) -> None:
        """From here on the results of the run before are written over."""
        if shape != self._shape:
            self._shape, self._results = shape, []
        self._done = 0

    def _rounded(self, function: Callable[..., Any], *operands: Array) -> Array:
        if self._done == len(self._results):
            self._results.append(super()._rounded(function, *operands))
        else:
            super()._rounded(partial(function, out=self._results[self._done]), *operands)
        self._done += 1
        return self._results[self._done - 1]


def release(array: Array) -> None:
    """Give the pages of a mapped file back; they are read again when they are needed."""
    base: Any = array
    while base is not None and not isinstance(base, mmap.mmap):
        base = getattr(base, "base", None)
    if base is not None and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)


def _wrong_slices(stream: Stream, suspects: Array) -> tuple[list[int], bool]:
    """Suspects that are wrong by the rules of `condition`, and whether all were judged.

    Where they are too many, a sample's worth of wrong ones is looked for, spread over all of them.
    """
    import numpy as np

    all_judged = len(suspects) * stream.size <= _JUDGED
    order = np.arange(len(suspects))
    if not all_judged:
        spread = np.unique(np.linspace(0, len(suspects) - 1, min(len(suspects), 4 * stream.sample)).astype(int))
        order = np.concatenate([spread, np.setdiff1d(order, spread)])
    wrong: list[int] = []
    step = max(1, _SAMPLE_SIZE // stream.size)
    for start in range(0, len(order), step):
        chosen = suspects[order[start : start + step]]
        problem = stream.problem(chosen)
        fits = problem.fitting_rows(problem.spec)
        kept = problem.layout.kept
        slices = fits.reshape([problem.x.shape[i] for i in kept]).all(axis=tuple(range(1, len(kept))))
        wrong += chosen[~np.atleast_1d(slices)].tolist()
        if not all_judged and len(wrong) >= stream.sample:
            break
    return wrong, all_judged


def _along_other_axes(stream: Stream, sample: Problem) -> Finding | None:
    """Statistics over other axes: tried on slices that hold those axes whole, or told by rows that share theirs."""
    statistics, _ = pieces(stream.spec, stream.x.shape, stream.eps)
    for piece in statistics:
        if piece.id not in ("wrong-axis", "all-axes", "missing-keepdims"):
            continue
        other = replace(stream, spec=replace(stream.spec, **dict(piece.changes)))
        if piece.id == "missing-keepdims":
            if stream.x.size <= _MOST_SQUARE and stream.problem(slice(None)).fits(other.spec):
                return Finding("wrong", (piece.id,), first_step="deviation")
            continue
        evidence = (f"{piece.detail[0].upper()}{piece.detail[1:]}.",)
        if other.axis is None:
            if _one_line(sample):
                return Finding("wrong", (piece.id,), evidence=evidence, first_step="mean")
            continue
        size = stream.x.size // stream.x.shape[other.axis]
        problem = other.problem(slice(0, max(1, min(stream.x.shape[other.axis], _SAMPLE_SIZE // size))))
        if problem.fits(problem.spec):
            return Finding("wrong", (piece.id,), evidence=evidence, first_step="mean")
    return None


def _one_line(sample: Problem) -> bool:
    """Whether all rows imply one and the same mean and divisor, though their own differ."""
    import numpy as np

    t = sample.run(sample.spec)
    if "mean" not in t or t.layout.count < 3:
        return False
    lines = [implied(sample, row, t) for row in range(min(t.layout.count, 16))]
    if not all(line is not None and line.fits for line in lines):
        return False
    means = np.array([line.mean for line in lines if line])
    divisors = np.array([line.divisor for line in lines if line])
    own = np.ptp(t["mean"].value[: len(lines)])
    return bool(np.ptp(means) < 1e-2 * own and np.ptp(divisors) < 1e-2 * abs(float(divisors[0])))
