"""Epsilon: its size, its place, and who uses which."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli import exact
from lnorm_cli.arithmetic import DTYPES, Float
from lnorm_cli.explain.content import Cell, Note, Result, Table
from lnorm_cli.explain.demos.arguments import Arguments
from lnorm_cli.explain.demos.values import apart, number
from lnorm_cli.explain.topics import DATA
from lnorm_cli.norm import Spec, trace
from lnorm_cli.reading import parse_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]


def epsilons(arguments: Arguments) -> Sequence[Result]:
    """One row under many epsilons."""
    x, texts = arguments.vector(), arguments.list("eps")
    rows = tuple(_under(x, text, text) for text in texts)
    variance = trace(x, Spec(epsilon="omitted"))["variance"].value[0, 0]
    head = ("eps", *arguments.words)
    return [Table(head, rows, f"Outputs; the variance is {exact.to_float(variance):.3g}.")]


def _under(x: Array, label: str, eps: str) -> tuple[Cell, ...]:
    done = trace(x, arithmetic=Float(), eps=parse_number(eps))
    return (label, *done.output.tolist())


def constant(arguments: Arguments) -> Sequence[Result]:
    """A constant row in each dtype: epsilon as stored, and the output."""
    x = arguments.vector()
    rows = []
    for dtype in DTYPES:
        for text in arguments.list("eps"):
            done = trace(x, arithmetic=Float(dtype), eps=parse_number(text))
            rows.append((dtype, text, number(done.value("epsilon")[0, 0]), float(done.output[0])))
    return [Table(("dtype", "eps", "stored as", "output"), tuple(rows))]


def libraries(arguments: Arguments) -> Sequence[Result]:
    """One row under the default epsilon of each library, with where that default is documented."""
    x = arguments.vector()
    with (DATA / "epsilons.toml").open("rb") as file:
        defaults = tomllib.load(file)["default"]
    rows = tuple(
        (f"{entry['name']} [{entry['source']}]", entry["eps"],
         float(trace(x, arithmetic=Float(), eps=parse_number(entry["eps"])).output[0]))
        for entry in defaults
    )  # fmt: skip
    return [Table(("library, model", "eps", "first output"), rows, "LayerNorm of this row under each default:")]


def places(arguments: Arguments) -> Sequence[Result]:
    """Epsilon inside the root, and in the three places where it does not belong."""
    x, eps = arguments.vector(), arguments.exact("eps")
    described = {
        "inside": "inside the root (right)",
        "outside": "outside the root",
        "after": "after the division",
        "omitted": "omitted",
    }
    specs = [Spec(epsilon=place) for place in described]  # type: ignore[arg-type]
    outputs = [trace(x, spec, Float(), eps=eps).output for spec in specs]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (label, *output.tolist()) for label, output in zip(described.values(), outputs, strict=True)
    )
    stretched = trace(x, Spec(epsilon="omitted"), Float()).output
    healthy = [trace(stretched, spec, Float(), eps=eps).output for spec in specs]
    difference = max(apart(output, healthy[0]) for output in healthy)
    return [
        Table(("eps", *arguments.words), rows),
        Note(f"On the same row stretched to variance one, the four differ by about {difference:.1g}."),
    ]
