"""How far a right result in floating point may stand from the exact one: what rounding in that type can do.

With unit roundoff u, row length n, largest |x| and divisor s (the standard deviation, epsilon included):

    shift   error of the mean over s:        (8 + max(4 sqrt(n), n/4)) u max|x| / s, one number a row
            (|x| / s counts up to 64; in a wide allowance without bound, with 2 + sqrt(n)/2 before it)
    scale   relative error of the divisor:   (8 + 4 sqrt(n)) u + shift^2 + 8 u min(mean^2/var, 100), one a row
    noise   roundings of each element:       2 u (|gamma normalized| + |rest| + |y|) + 2 u |gamma x| / s

A sum of n terms errs by n u at worst and by about sqrt(n) u as a rule (Higham, Accuracy and Stability of Numerical
Algorithms, 2nd ed., section 4.2). The last term of scale lets pass the one-pass formula while its digits hold, that of
noise x scale + shift in one step. The two half precisions are expected to sum in float32: there shift is
2 u max|x| / s (|x| / s up to 4), scale 4 u + shift^2 and noise u (3 |gamma normalized| + |y|), whatever n is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.norm import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

_SUBNORMAL = {"float64": 2.0**-1074, "float32": 2.0**-149, "float16": 2.0**-24, "bfloat16": 2.0**-133}
REACH, HALF_REACH = 64.0, 4.0
"""Up to here |x| / s is let into the allowance of a right answer, in the long types and the half ones."""

_LEAST_FIT = 8
"""Rows shorter than this are compared element by element only."""


@dataclass(frozen=True)
class Allowance:
    """What rounding may do to one result; arrays in rows."""

    noise: Array
    shift: Array
    scale: Array
    total: Array
    """The three together, for each element."""


def divisor_of(t: Trace) -> Array:
    """What the trace divided by, (rows, 1) or, with keepdims forgotten, (1, n)."""
    name = next(step.operands[1] for step in t.steps if step.operation == "divide")
    value: Array = t.value(name)
    return value


def allowance(t: Trace, unit: float, dtype: str, wide: bool = False) -> Allowance:
    """The allowance for a result whose float64 trace is `t`, computed in `dtype` with that unit roundoff.

    `wide` lifts the bound on |x| / s: what rounding can do at worst where the mean is huge against the spread.
    """
    import numpy as np

    with np.errstate(all="ignore"):
        n = t.layout.n
        x, normalized, gamma = t["x"].value, t["normalized"].value, t.parameters["gamma"]
        output = t.steps[-1].value
        half = dtype in ("float16", "bfloat16")
        divisor = np.abs(divisor_of(t))
        reach = np.abs(x) / divisor
        if half or not wide:
            reach = np.minimum(reach, HALF_REACH if half else REACH)
        offset = np.abs(t["mean"].value) if "mean" in t else np.zeros((t.layout.count, 1))
        shift = 2.0 if half else 8 + max(4 * math.sqrt(n), n / 4)
        if wide:
            shift = 2 + math.sqrt(n) / 2  # what is usual, not what is possible: the bound would let anything pass
        shift = shift * unit * reach.max(axis=-1, keepdims=True) * ("mean" in t)
        amplified = np.minimum(np.nan_to_num((offset / divisor) ** 2, nan=100.0, posinf=100.0), 100.0)
        scale = (4 if half else 8 + 4 * math.sqrt(n)) * unit + shift**2
        if not half:
            scale = scale + 8 * unit * amplified
        scaled = np.abs(gamma * normalized)
        if half:
            noise = unit * (3 * scaled + np.abs(output))
        else:
            noise = 2 * unit * (scaled + np.abs(output - gamma * normalized) + np.abs(output))
            noise = noise + 2 * unit * np.abs(gamma) * reach * ("mean" in t)
        noise = noise + 2 * _SUBNORMAL[dtype] * (1 + np.abs(gamma))
        total = noise + np.abs(gamma) * (shift + np.abs(normalized) * scale)
    return Allowance(noise, shift, scale, total)


def agrees(
    t: Trace, given: Array, unit: float, dtype: str, slack: Array, wide: bool = False, most: Array | None = None
) -> Array:
    """For each row, whether `given` (rows, n) is what rounding can make of the trace's output.

    Errors of a row's mean and divisor move all its elements together; they are fitted, held to their bounds,
    and only what is left is set against the noise of single elements. That is what tells n - 1 from n in long rows.
    Typed numbers (with `slack`) and short rows are compared element by element only. `most` bounds the allowance.
    """
    import numpy as np

    allowed = allowance(t, unit, dtype, wide)
    output = t.steps[-1].value
    with np.errstate(all="ignore"):
        same = (np.isnan(given) & np.isnan(output)) | (given == output)
        difference = np.where(same, 0.0, given - output)
        room = allowed.total if most is None else np.fmin(allowed.total, most)
        room = np.where(np.isfinite(room), room, 0.0)
        near = same | (np.abs(difference) <= room + slack)
        rows = np.asarray(near.all(axis=-1))
        if t.layout.n < _LEAST_FIT or not rows.any() or slack.any():
            return rows
        gamma = np.broadcast_to(t.parameters["gamma"], difference.shape)
        first = np.where(same & ~np.isfinite(output), 0.0, gamma)
        second = np.where(same & ~np.isfinite(output), 0.0, gamma * t["normalized"].value)
        weight = 1 / (allowed.noise + slack + 1e-300)
        left = _without_common(difference, first, second, weight, allowed)
        return np.asarray(rows & np.all(np.abs(left) <= 2 * allowed.noise + slack, axis=-1))


def _without_common(difference: Array, first: Array, second: Array, weight: Array, allowed: Allowance) -> Array:
    """The differences less their common shift and scale, both held to what is allowed."""
    import numpy as np

    a, b, d = first * weight, second * weight, difference * weight
    aa, ab, bb = (np.sum(p * q, axis=-1, keepdims=True) for p, q in ((a, a), (a, b), (b, b)))
    ad, bd = (np.sum(p * d, axis=-1, keepdims=True) for p in (a, b))
    determinant = aa * bb - ab * ab
    safe = determinant > 1e-12 * aa * bb
    shift = np.where(safe, (bb * ad - ab * bd) / np.where(safe, determinant, 1), ad / np.where(aa > 0, aa, 1))
    shift = np.clip(shift, -allowed.shift, allowed.shift)
    scale = np.where(bb > 0, (bd - ab * shift) / np.where(bb > 0, bb, 1), 0.0)
    scale = np.clip(scale, -allowed.scale, allowed.scale)
    return np.asarray(difference - shift * first - scale * second)
