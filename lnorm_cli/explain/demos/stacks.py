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


def _conditions() -> Note:
    return Note(f"{lab.SETUP[0].upper()}{lab.SETUP[1:]}.")


def lab_gradients(arguments: Arguments) -> Sequence[Result]:
    """Norm of the gradient of each layer's weights, by kind of stack."""
    made = runs(arguments)
    bars = _by_layer(made, [run.gradients for run in made], "Gradient norm of each layer's weights", "gradient")
    return [bars, _conditions()] if "setup" in arguments.pairs else [bars]


def lab_signals(arguments: Arguments) -> Sequence[Result]:
    """Norm of the gradient that arrives at the input of each layer, by kind of stack."""
    made = runs(arguments)
    bars = _by_layer(made, [run.signals for run in made], "Gradient arriving at each layer's input", "gradient")
    return [bars, _conditions()] if "setup" in arguments.pairs else [bars]


def lab_activations(arguments: Arguments) -> Sequence[Result]:
    """Mean square of the activations after each layer, by kind of stack."""
    made = runs(arguments)
    what = "Mean square of the activations after each layer"
    return [_by_layer(made, [run.activations[1:] for run in made], what, "mean square")]


def _by_layer(made: Sequence[Run], values: Sequence[Sequence[float]], what: str, head: str) -> Bars:
    """A group of bars for each run: its values at the layers that are shown, which the caption tells."""
    some = f", {SHOWN} of them shown" if made[0].depth > SHOWN else ""
    caption = f"{what} ({_setup(made[0])}{some}), log scale:"
    groups = tuple(
        (LABELS[run.kind], tuple(Bar(f"layer {n}", own[n - 1]) for n in layers(run.depth)))
        for run, own in zip(made, values, strict=True)
    )
    return Bars(groups, caption, ("stack", "layer", head))


def _over_depths(arguments: Arguments, kinds: Sequence[str]) -> tuple[tuple[Run, ...], ...]:
    """For each depth of the block (or around the reader's `--depth`) the runs of all kinds."""
    own = arguments.options.take("depth")
    depths = [int(word) for word in arguments.list("depths")] if own is None else lab.claim_depths(own)
    return lab.depths(
        list(kinds),
        depths,
        width=arguments.integer("width", lab.WIDTH),
        seed=arguments.integer("seed", lab.SEED, least=0),
        progress=arguments.options.progress,
    )


def lab_depths(arguments: Arguments) -> Sequence[Result]:
    """The last layer's gradient for growing depth."""
    found = _over_depths(arguments, arguments.list("kinds"))
    rows = tuple((LABELS[made[0].kind], *(run.last_gradient for run in made)) for made in zip(*found, strict=True))
    one = found[0][0]
    head = ("stack", *(f"{made[0].depth} layers" for made in found))
    return [Table(head, rows, f"Gradient norm of the last layer (width {one.width}, seed {one.seed}):")]


def lab_ratio(arguments: Arguments) -> Sequence[Result]:
    """The first layer's gradient over the last one's."""
    rows = tuple((LABELS[run.kind], run.gradients[0], run.last_gradient, run.ratio) for run in runs(arguments))
    return [Table(("stack", "first", "last", "first / last"), rows)]


def lab_final(arguments: Arguments) -> Sequence[Result]:
    """Size of a pre-norm stack's output without and with the final norm."""
    found = _over_depths(arguments, ("pre-no-final", "pre"))
    rows = tuple((without.depth, without.output_size, after.output_size) for without, after in found)
    return [Table(("layers", "without", "with final norm"), rows, "Mean square of what reaches the output layer:")]


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
