"""Shapes: how many means and parameters there are; and the leak test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.errors import InputError
from lnorm_cli.explain.content import Note, Result, Table
from lnorm_cli.explain.demos.arguments import Arguments
from lnorm_cli.explain.demos.values import apart
from lnorm_cli.layout import Layout
from lnorm_cli.norm import Spec, trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]


def shapes(arguments: Arguments) -> Sequence[Result]:
    """For a shape and the normalized axes: numbers of means and variances, length of gamma and beta."""
    own = arguments.text("own", "yes") == "yes"
    given = (arguments.options.take("shape") if own else None) or arguments.words[0]
    shape = _sizes(given, "--shape")
    axes = _whole(arguments.text("axis", "-1", own=own), "--axis")
    layout = Layout(shape, axes)
    parameters = tuple(shape[axis] for axis in layout.reduced)
    kept = tuple(shape[axis] for axis in layout.kept)
    rows = (
        ("means", layout.count, " x ".join(map(str, kept)) or "1"),
        ("variances", layout.count, " x ".join(map(str, kept)) or "1"),
        ("gamma", math.prod(parameters), _text(parameters)),
        ("beta", math.prod(parameters), _text(parameters)),
    )
    caption = f"Shape {_text(shape)}, normalized over {'axes' if len(axes) > 1 else 'axis'} "
    return [Table(("", "numbers", "shape"), rows, caption + ", ".join(map(str, axes)) + ":")]


def _text(sizes: Sequence[int]) -> str:
    return "(" + ", ".join(map(str, sizes)) + ("," if len(sizes) == 1 else "") + ")"


def _whole(text: str, option: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in text.replace("−", "-").replace(",", " ").split())
    except ValueError:
        raise InputError(f"{option} is {text!r}", hint="give whole numbers, such as 2,2,2,3") from None


def _sizes(text: str, option: str) -> tuple[int, ...]:
    sizes = _whole(text, option)
    if not sizes or min(sizes) < 1:
        raise InputError(f"{option} is {text!r}", hint="sizes are whole numbers from 1 on, such as 2,2,2,3")
    return sizes


def leak(arguments: Arguments) -> Sequence[Result]:
    """Two inputs that share their first token: what a right and a wrong norm make of that token."""
    future = arguments.text("what", "batch") == "future"
    inputs = _sequences() if future else _batches()
    results: list[Result] = []
    for label in ("right", "wrong"):
        axes = _whole(arguments.text(label), label)
        tokens = [_first_token(trace(x, Spec(axes=axes)).output) for x in inputs]
        rows = tuple(zip(_first_token(inputs[0]).tolist(), *map(_floats, tokens), strict=True))
        other = ("last token 1", "last token 2") if future else ("batch 1", "batch 2")
        results.append(Table(("x", *other), rows, f"{label}: mean and variance over axes {_text(axes)}"))
        difference = apart(*tokens)
        results.append(Note("The first token keeps its result: no leak." if difference == 0 else
                            "The first token's result changed: the others leaked in."))  # fmt: skip
    return results


def _batches() -> tuple[Array, Array]:
    """Shape (2, 2, 3): two examples of two tokens; only the very first token is shared."""
    import numpy as np

    return (
        np.array([[[1, 2, 6], [4, 0, 5]], [[7, 3, 2], [1, 1, 4]]]),
        np.array([[[1, 2, 6], [9, 8, 1]], [[0, 6, 6], [2, 9, 3]]]),
    )


def _sequences() -> tuple[Array, Array]:
    """Shape (1, 3, 3): one example of three tokens, of which only the last differs."""
    import numpy as np

    return (np.array([[[1, 2, 6], [4, 0, 5], [7, 3, 2]]]), np.array([[[1, 2, 6], [4, 0, 5], [0, 9, 9]]]))


def _first_token(x: Array) -> Array:
    token: Array = x[0, 0]
    return token


def _floats(values: Array) -> list[float]:
    from lnorm_cli.explain.demos.values import number

    return [number(value) for value in values]
