"""A question to the core: x, gamma, beta and epsilon, checked and placed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli import exact
from lnorm_cli.arithmetic import Float
from lnorm_cli.errors import InputError
from lnorm_cli.layout import Layout, align
from lnorm_cli.norm import DEFAULT_EPS, NORMS, Spec

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
        name: align(value if value is not None else default, name, x.shape, spec.axes, channels=channels)
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
        norm,
        spec,
        x,
        parameters["gamma"],
        parameters["beta"],
        eps,
        Float(dtype, accumulate),
        with_exact,
        upstream,
    )
