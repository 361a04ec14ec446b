"""Parameter counts."""

from __future__ import annotations

from collections.abc import Sequence

from lnorm_cli.explain.content import Cell, Result, Table
from lnorm_cli.explain.demos.arguments import Arguments


def parameters(arguments: Arguments) -> Sequence[Result]:
    """gamma and beta of one norm, or of all the norms of an encoder-decoder."""
    width = arguments.integer("width", 512)
    vectors = 1 if arguments.text("norm", "layer") == "rms" else 2
    each = vectors * width
    if "stack" not in arguments.pairs:
        beta = width if vectors == 2 else 0
        return [Table((f"width {width}", "numbers"), (("gamma", width), ("beta", beta), ("together", each)))]
    depth = arguments.integer("depth", 6)
    parts = [("encoder", depth, 2), ("decoder", depth, 3)]
    counted: list[tuple[Cell, ...]] = [(f"{depth} {name} layers", layers * norms, layers * norms * each)
                                       for name, layers, norms in parts]  # fmt: skip
    norms = sum(layers * each_layer for _, layers, each_layer in parts)
    if arguments.text("final") == "yes":
        counted.append(("final norms", len(parts), len(parts) * each))
        norms += len(parts)
    counted.append(("together", norms, norms * each))
    return [Table((f"width {width}", "norms", "numbers"), tuple(counted))]


def parameter_share(arguments: Arguments) -> Sequence[Result]:
    """A decoder-only stack: norms beside the matrices of attention and feed-forward."""
    width, depth = arguments.integer("width", 512), arguments.integer("depth", 6)
    norms = (2 * depth + 1) * 2 * width
    matrices = depth * (4 * width * width + 2 * width * 4 * width)
    rows = (
        ("attention and feed-forward", matrices, 100 * matrices / (matrices + norms)),
        ("norms, final one included", norms, 100 * norms / (matrices + norms)),
    )
    return [Table((f"{depth} layers of width {width}", "numbers", "percent"), rows)]
