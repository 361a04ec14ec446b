"""A whole Pre-LN transformer block, stage by stage, and small pieces of it to play with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.errors import InputError
from lnorm_cli.lab.layers import Attention, Chain, DynamicTanh, Layer, Linear, Norm, ReLU, Residual
from lnorm_cli.lab.runs import SEED, mean_square
from lnorm_cli.norm import LAYER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Stage:
    """A value on the way through the block; size is its mean square."""

    name: str
    shape: tuple[int, ...]
    size: float


@dataclass(frozen=True, eq=False)
class BlockRun:
    """A block run forward once: its stages, and the attention weights (heads, tokens, tokens)."""

    stages: tuple[Stage, ...]
    split: int
    attention: Array
    x: Array
    y: Array


def block(
    tokens: int = 10,
    width: int = 64,
    hidden: int = 256,
    heads: int = 8,
    seed: int = SEED,
    x: Array | None = None,
) -> BlockRun:
    """Norm, attention, add; norm, feed-forward, add: on random tokens, or on `x` (tokens, width).

    Weights are drawn by Xavier's rule. InputError where heads do not divide the width.
    """
    import numpy as np

    _check_sizes(tokens=tokens, width=width, hidden=hidden, heads=heads)
    random = np.random.Generator(np.random.PCG64(seed))
    drawn = random.standard_normal((tokens, width))
    norm1, attend, norm2, widen, relu, narrow = block_layers(random, width, hidden, heads)
    x = drawn if x is None else x

    h, _ = norm1.forward(x)
    attended, cache = attend.forward(h)
    _, queries, _, _, weights, _ = cache
    middle = x + attended
    h2, _ = norm2.forward(middle)
    wide, _ = relu.forward(widen.forward(h2)[0])
    fed, _ = narrow.forward(wide)
    y = middle + fed

    stages = {
        "x": x, "norm1": h, "heads": queries, "attention": attended, "sum1": middle,
        "norm2": h2, "hidden": wide, "feed-forward": fed, "y": y,
    }  # fmt: skip
    return BlockRun(
        tuple(Stage(name, value.shape, mean_square(value)) for name, value in stages.items()),
        width // heads,
        weights,
        x,
        y,
    )


def block_layers(random: np.random.Generator, width: int, hidden: int, heads: int) -> tuple[Layer, ...]:
    """The six layers of a block with fresh weights: norm, attention; norm, W1, ReLU, W2."""
    norm1, norm2 = _fresh_norm(width), _fresh_norm(width)
    attend = Attention(heads, *(_xavier(random, width, width) for _ in range(4)))
    widen, narrow = Linear("W1", _xavier(random, width, hidden)), Linear("W2", _xavier(random, hidden, width))
    return norm1, attend, norm2, widen, ReLU(), narrow


def assembled(layers: tuple[Layer, ...]) -> Layer:
    """The block as one layer, which runs backward as well."""
    norm1, attend, norm2, widen, relu, narrow = layers
    return Chain([Residual(Chain([norm1, attend])), Residual(Chain([norm2, widen, relu, narrow]))])


def attention(x: Array, heads: int = 2, seed: int = SEED) -> Array:
    """Self-attention with random weights on `x` (tokens, width); nothing in it knows the tokens' order."""
    import numpy as np

    x = np.asarray(x, dtype=float)
    _check_sizes(width=x.shape[-1], heads=heads)
    random = np.random.Generator(np.random.PCG64(seed))
    layer = Attention(heads, *(_xavier(random, x.shape[-1], x.shape[-1]) for _ in range(4)))
    return layer.forward(x)[0]


def dyt(x: Array, alpha: float = 0.5, gamma: float = 1.0, beta: float = 0.0) -> Array:
    """gamma tanh(alpha x) + beta, feature by feature."""
    import numpy as np

    layer = DynamicTanh(np.array([alpha]), np.array([gamma]), np.array([beta]))
    return layer.forward(np.asarray(x, dtype=float))[0]


def _check_sizes(**sizes: int) -> None:
    for name, value in sizes.items():
        if not 1 <= value <= 10_000:
            raise InputError(f"{name} is {value}", hint="from 1 to 10000")
    if sizes["width"] % sizes["heads"]:
        raise InputError(
            f"{sizes['heads']} heads do not divide a width of {sizes['width']}",
            hint="each head takes an equal slice of the width",
        )


def _fresh_norm(width: int) -> Norm:
    import numpy as np

    return Norm(LAYER, np.ones(width), np.zeros(width))


def _xavier(random: np.random.Generator, rows: int, columns: int) -> Array:
    """Normal values of variance 2 / (rows + columns)."""
    weight: Array = random.standard_normal((rows, columns)) * (2 / (rows + columns)) ** 0.5
    return weight
