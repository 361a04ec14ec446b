"""The gradient through a norm, step by step, from the forward trace.

With s the divisor and g = dy gamma, the chain rule gives for LayerNorm and BatchNorm

    dx = (g - mean(g) - x^ mean(g x^)) / s

and for RMSNorm the same without mean(g); dgamma and dbeta are dy x^ and dy, summed over all that share one
gamma or beta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.errors import InputError
from lnorm_cli.norm.spec import LAYER, RMS, row_spec
from lnorm_cli.norm.steps import Recorder, Step, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class BackwardTrace(Trace):
    """The steps to dx, shapes (rows, n) or (rows, 1); `dgamma` and `dbeta` have the parameters' shape."""

    dgamma: Array
    dbeta: Array


def backward(forward: Trace, dy: Any, parameter_shape: tuple[int, ...] | None = None) -> BackwardTrace:
    """Carry the upstream gradient `dy` (the shape of x, or one that broadcasts to it) back through `forward`.

    `parameter_shape` is that of gamma and beta with as many axes as x (1 where they broadcast); left out, there
    is one gamma for each element of a row. InputError for a Spec that is not one of the three norms.
    """
    import numpy as np

    if row_spec(forward.spec) not in (LAYER, RMS):
        raise InputError("the backward pass is that of LayerNorm, RMSNorm or BatchNorm")
    layout, a = forward.layout, forward.arithmetic
    values = {**forward.parameters, **{step.name: step.value for step in forward}}
    record = Recorder(a, values)
    record.statistics.update(step.name for step in forward if step.statistic)
    try:
        upstream = a.array(layout.rows(np.asarray(dy)))
    except ValueError:
        raise InputError(
            f"the upstream gradient has shape {np.shape(dy)}, x has {layout.shape}",
            hint="give one number for each element of x",
        ) from None
    record.note("upstream", "given", (), upstream)
    record.arithmetic = a.statistics
    record.apply("normalized_gradient", "multiply", "upstream", "gamma")
    record.apply("gradient_product", "multiply", "normalized_gradient", "normalized")
    record.apply("mean_product", "mean", "gradient_product")
    record.apply("projection", "multiply", "normalized", "mean_product")
    name, root = "normalized_gradient", "root_mean_square"
    if "mean" in forward:
        record.apply("mean_gradient", "mean", "normalized_gradient")
        name, root = "centered_gradient", "standard_deviation"
        record.apply(name, "subtract", "normalized_gradient", "mean_gradient")
    record.apply("remaining_gradient", "subtract", name, "projection")
    dx = a.array(record.arithmetic.divide(values["remaining_gradient"], values[root]))
    record.note("dx", "divide", ("remaining_gradient", root), dx)
    record.arithmetic = a
    terms = a.multiply(upstream, values["normalized"])
    shape = parameter_shape or tuple(size if axis in layout.reduced else 1 for axis, size in enumerate(layout.shape))
    steps: tuple[Step, ...] = tuple(record.steps)
    return BackwardTrace(
        forward.spec,
        a,
        layout,
        steps,
        forward.parameters,
        dgamma=_sum_to(forward, terms, shape),
        dbeta=_sum_to(forward, upstream, shape),
    )


def _sum_to(forward: Trace, rows: Array, shape: tuple[int, ...]) -> Array:
    """Sum (rows, n) values over the axes along which a parameter of `shape` repeats."""
    statistics = forward.arithmetic.statistics
    whole = forward.layout.restore(statistics.array(rows))
    repeated = tuple(axis for axis, size in enumerate(shape) if size == 1)
    if not repeated or math.prod(whole.shape[axis] for axis in repeated) == 1:
        return forward.arithmetic.array(whole).reshape(shape)
    kept = tuple(axis for axis in range(len(shape)) if axis not in repeated)
    matrix = whole.transpose(kept + repeated).reshape(math.prod(shape), -1)
    return forward.arithmetic.array(statistics.sum(matrix)).reshape(shape)
