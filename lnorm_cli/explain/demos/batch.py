"""LayerNorm beside BatchNorm: the same numbers, in other company and in another mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli import exact
from lnorm_cli.arithmetic import Float
from lnorm_cli.explain.content import Note, Result, Table
from lnorm_cli.explain.demos.arguments import Arguments
from lnorm_cli.norm import BATCH, HALF, LAYER, Spec, trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]


def batch(arguments: Arguments) -> Sequence[Result]:
    """Both norms of a small batch, and that each is the other one of the transposed batch."""
    x = arguments.rows("rows")
    layer, over_batch = _output(x, LAYER), _output(x, BATCH)
    rows = tuple(
        (_plain(given), tuple(left.tolist()), tuple(right.tolist()))
        for given, left, right in zip(x, layer, over_batch, strict=True)
    )
    same = bool((over_batch == _output(x.T, LAYER).T).all())
    verdict = "exactly" if same else "not"
    return [
        Table(("example", "LayerNorm", "BatchNorm"), rows),
        Note(f"LayerNorm of the transposed batch, transposed back, is {verdict} the BatchNorm."),
    ]


def _output(x: Array, spec: Spec) -> Array:
    return trace(x, spec, Float()).output


def company(arguments: Arguments) -> Sequence[Result]:
    """One example alone and with two sets of companions, under both norms."""
    import numpy as np

    example, others = arguments.rows("row"), arguments.rows("others")
    batches = [("alone", example)]
    batches += [(f"with {_plain(other)}", np.array([example[0], other])) for other in others]
    rows = tuple(
        (label, tuple(_output(x, LAYER)[0].tolist()), tuple(_output(x, BATCH)[0].tolist())) for label, x in batches
    )
    return [Table((_plain(example[0]), "LayerNorm", "BatchNorm"), rows)]


def _plain(values: Array) -> str:
    return " ".join(map(exact.text, values))


def modes(arguments: Arguments) -> Sequence[Result]:
    """BatchNorm in training and, after one training step's running averages, in evaluation."""
    x = arguments.rows("rows")
    momentum = exact.to_float(arguments.exact("momentum"))
    training = trace(x, BATCH, Float())
    unbiased = trace(x, Spec(axes=(0,), divisor="n-1"), Float())
    a, values = Float(), Float().array(x)
    mean = momentum * training["mean"].value.T
    variance = (1 - momentum) + momentum * unbiased["variance"].value.T
    spread = a.power(a.add(variance, a.array([[1e-5]])), HALF)
    evaluation = a.divide(a.subtract(values, mean), spread)
    rows = tuple(
        (_plain(given), tuple(left.tolist()), tuple(right.tolist()))
        for given, left, right in zip(x, training.output, evaluation, strict=True)
    )
    return [
        Table(("example", "training", "evaluation"), rows, "BatchNorm of the same batch:"),
        Table(
            ("running", "values"),
            (("means", tuple(mean[0].tolist())), ("variances", tuple(variance[0].tolist()))),
            "Running averages after that one step, started at mean 0 and variance 1:",
        ),
    ]
