"""Where the norm stands in a residual block: x, the sublayer's output F, and what came out.

    post    right is norm(x + F)       F is the sublayer's output on x
    pre     right is x + F             F is the sublayer's output on norm(x)
    final   right is norm(x + F)       the norm that ends a Pre-LN stack, after its last addition

Every way to mix these up is a term r and a factor k around one norm, r + k norm(u), or a sum without a norm.
Where F is a multiple of x (or of norm(x)), the sublayer is also tried as that multiple, since the two orders feed
it differently.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.arithmetic import Exact, Float
from lnorm_cli.errors import InputError
from lnorm_cli.faults.infer import roundest
from lnorm_cli.norm import Spec, trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

ORDERS = ("post", "pre", "final")


@dataclass(frozen=True)
class Placement:
    """One way to build the block's output: `term` + `factor` norm(`inner`), or `term` alone."""

    ids: tuple[str, ...]
    formula: str
    inner: Array | None
    term: Array
    factor: Fraction = Fraction(1)
    alternatives: tuple[str, ...] = ()
    right: bool = False
    note: str = ""


def placements(x: Array, residual: Array, order: str, spec: Spec, eps: Any) -> Iterator[Placement]:
    """All placements, the right one first. x and F are arrays of one shape, exact or float alike."""
    import numpy as np

    if order not in ORDERS:
        raise InputError(f"unknown order {order!r}", hint="one of " + ", ".join(ORDERS))
    if x.shape != residual.shape:
        raise InputError(
            f"the residual has shape {residual.shape}, x has {x.shape}", hint="they are added: give one shape"
        )
    exactly = x.dtype == object
    zero = Exact().array(np.zeros(x.shape, dtype=int)) if exactly else np.zeros(x.shape)
    total = Exact().add(x, residual) if exactly else x.astype(np.float64) + residual.astype(np.float64)
    normed = order != "pre"
    yield Placement(
        (), "norm(x + F)" if normed else "x + F", total if normed else None, zero if normed else total, right=True
    )
    if normed:
        name = "pre-for-post" if order == "post" else "final-norm-omitted"
        other = ("final-norm-omitted",) if order == "post" else ()
        yield Placement((name,), "x + F", None, total, alternatives=other)
        yield Placement(("residual-omitted",), "norm(F)", residual, zero)
        yield Placement(("residual-omitted", name), "F", None, residual)
        yield Placement(("branch-omitted",), "norm(x)", x, zero)
    else:
        yield Placement(("post-for-pre",), "norm(x + F)", total, zero)
        yield Placement(("residual-omitted",), "F", None, residual)
        yield Placement(("residual-omitted", "post-for-pre"), "norm(F)", residual, zero)
        yield Placement(("branch-omitted",), "x", None, x)
    yield Placement(("residual-of-normalized",), "norm(x) + F", x, residual)
    yield Placement(("branch-normalized",), "x + norm(F)", residual, x)
    yield Placement(("residual-twice",), "x + norm(x + F)", total, x)
    yield from _proportional(x, residual, order, spec, eps, zero)


def _proportional(x: Array, residual: Array, order: str, spec: Spec, eps: Any, zero: Array) -> Iterator[Placement]:
    """The same mix-ups where the sublayer multiplies its input by a number."""
    multiple = _ratio(residual, x)
    if multiple is not None:
        words = f"F is {multiple} times x, so the sublayer is read as z -> {multiple} z."
        yield Placement(
            ("pre-for-post",) if order == "post" else ("final-norm-omitted",) if order == "final" else (),
            "x + F(norm(x))",
            x,
            x,
            multiple,
            right=order == "pre",
            note=words,
        )
    if order != "pre":
        return
    multiple = _ratio(residual, trace(x, spec, Float(), eps=eps).output)
    if multiple is not None:
        words = f"F is {multiple} times norm(x), so the sublayer is read as z -> {multiple} z."
        inner = x * (1 + multiple) if x.dtype == object else x * float(1 + multiple)
        yield Placement(("post-for-pre",), "norm(x + F(x))", inner, zero, note=words)


def _ratio(top: Array, bottom: Array) -> Fraction | None:
    """The short number c with top = c bottom, or None."""
    import numpy as np

    a, b = (Float().array(array).ravel() for array in (top, bottom))
    if a.size < 2 or not np.all(np.isfinite(a)) or not np.any(b):
        return None
    ratio = float(a[np.argmax(np.abs(b))] / b[np.argmax(np.abs(b))])
    if ratio == 0 or np.max(np.abs(a - ratio * b)) > 1e-6 * np.max(np.abs(a)):
        return None
    return roundest(ratio - 1e-6 * abs(ratio), ratio + 1e-6 * abs(ratio))
