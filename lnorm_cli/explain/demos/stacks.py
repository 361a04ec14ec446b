"""Stacks of blocks, run forward and backward by the lab."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lnorm_cli import lab
from lnorm_cli.explain.content import Bar, Bars, Cell, Note, Result, Table
from lnorm_cli.explain.demos.arguments import Arguments
from lnorm_cli.explain.demos.values import apart

if TYPE_CHECKING:
    from lnorm_cli.lab import Run

SHOWN = 6
"""Most layers of one stack that are drawn."""

LABELS = {
    "none": "no residual",
    "residual": "residual only",
    "post": "post-norm",
    "pre": "pre-norm",
    "pre-no-final": "pre-norm, no final norm",
    "sandwich": "sandwich / Peri-LN",
    "deepnorm": "DeepNorm",
    "dyt": "DyT",
    "pre-rms": "pre-norm, RMSNorm",
}


def runs(arguments: Arguments, kinds: Sequence[str] = ()) -> tuple[Run, ...]:
    """One run a kind of stack: the same weights, input and upstream gradient for all."""
    return lab.compare(
        list(kinds) or arguments.list("kinds"),
        depth=arguments.integer("depth", lab.DEPTH),
        width=arguments.integer("width", lab.WIDTH),
        seed=arguments.integer("seed", lab.SEED, least=0),
        progress=arguments.options.progress,
    )


def layers(count: int) -> list[int]:
    """At most `SHOWN` of the layers 1 to count, the first and the last among them."""
    if count <= SHOWN:
        return list(range(1, count + 1))
    return [1 + round(place * (count - 1) / (SHOWN - 1)) for place in range(SHOWN)]


def _setup(run: Run) -> str:
    return f"{run.depth} layers of width {run.width}, seed {run.seed}"


def lab_gradients(arguments: Arguments) -> Sequence[Result]:
    """Norm of the gradient of each layer's weights, by kind of stack."""
    made = runs(arguments)
    groups = tuple(
        (LABELS[run.kind], tuple(Bar(f"layer {n}", run.gradients[n - 1]) for n in layers(run.depth)))
        for run in made
    )
    return [
        Bars(
            groups, f"Gradient norm by layer ({_setup(made[0])}), log scale:", ("stack", "layer", "gradient")
        )
    ]


def lab_activations(arguments: Arguments) -> Sequence[Result]:
    """Mean square of the activations after each layer, by kind of stack."""
    made = runs(arguments)
    groups = tuple(
        (LABELS[run.kind], tuple(Bar(f"layer {n}", run.activations[n]) for n in layers(run.depth)))
        for run in made
    )
    caption = f"Mean square of the activations ({_setup(made[0])}), log scale:"
    return [Bars(groups, caption, ("stack", "layer", "mean square"))]


def lab_depths(arguments: Arguments) -> Sequence[Result]:
    """The last layer's gradient for growing depth."""
    depths = [int(word) for word in arguments.list("depths")]
    width = arguments.integer("width", lab.WIDTH)
    seed = arguments.integer("seed", lab.SEED, least=0)
    found = lab.depths(
        arguments.list("kinds"), depths, width=width, seed=seed, progress=arguments.options.progress
    )
    rows = tuple((LABELS[kind], *(run.last_gradient for run in made)) for kind, made in found.items())
    head = ("stack", *(f"{depth} layers" for depth in depths))
    return [Table(head, rows, f"Gradient norm of the last layer (width {width}, seed {seed}):")]


def lab_ratio(arguments: Arguments) -> Sequence[Result]:
    """The first layer's gradient over the last one's."""
    rows = tuple(
        (LABELS[run.kind], run.gradients[0], run.last_gradient, run.ratio) for run in runs(arguments)
    )
    return [Table(("stack", "first", "last", "first / last"), rows)]


def lab_final(arguments: Arguments) -> Sequence[Result]:
    """Size of a pre-norm stack's output without and with the final norm."""
    depths = [int(word) for word in arguments.list("depths")]
    width = arguments.integer("width", lab.WIDTH)
    seed = arguments.integer("seed", lab.SEED, least=0)
    found = lab.depths(
        ["pre-no-final", "pre"], depths, width=width, seed=seed, progress=arguments.options.progress
    )
    rows = tuple(
        (without.depth, without.output_size, after.output_size)
        for without, after in zip(found["pre-no-final"], found["pre"], strict=True)
    )
    return [
        Table(("layers", "without", "with final norm"), rows, "Mean square of what reaches the output layer:")
    ]


def lab_table(arguments: Arguments) -> Sequence[Result]:
    """First and last gradient and the last activations of many layouts."""
    made = runs(arguments)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (LABELS[run.kind], run.gradients[0], run.last_gradient, run.activations[-1]) for run in made
    )
    head = ("layout", "first gradient", "last", "mean square")
    return [Table(head, rows, f"{_setup(made[0])}:")]


def same_weights(arguments: Arguments) -> Sequence[Result]:
    """One set of weights in two orders: the first token's first features, and the largest difference."""
    made = runs(arguments)
    columns = [run.output[0, :4].tolist() for run in made]
    rows = tuple((f"feature {n}", *values) for n, values in enumerate(zip(*columns, strict=True), start=1))
    head = ("first token", *(LABELS[run.kind] for run in made))
    difference = apart(made[0].output, made[1].output)
    return [
        Table(head, rows, f"Outputs of the same weights ({_setup(made[0])}):"),
        Note(f"Largest difference over all tokens and features: {difference:.2g}."),
    ]
