"""One experiment: draw weights, input and upstream gradient; run a stack forward and backward; measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.errors import InputError
from lnorm_cli.lab.stacks import MATRICES, OUTPUT, SUBLAYERS, Matrices, Stack, build, find_kind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

Progress: TypeAlias = "Callable[[int, int], None]"
"""Told how many steps are done, of how many."""

DEPTH, WIDTH, SEED, TOKENS = 12, 64, 0, 32
MOST_DEPTH = 1000
MOST_WEIGHTS = 50_000_000

SETUP = (
    "weights drawn by Xavier's rule with variance 1/width, feed-forward width to width to width with ReLU, "
    "no biases, gamma 1, beta 0, eps 1e-5; input of standard normal values; loss: the sum over tokens of the "
    "output's part along a random unit vector"
)
"""What every run has in common."""


@dataclass(frozen=True)
class Setting:
    """Everything that decides a run."""

    kind: str
    depth: int = DEPTH
    width: int = WIDTH
    seed: int = SEED
    sublayer: str = "ffn"
    tokens: int = TOKENS
    heads: int = 4
    step: Callable[[int], None] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class Run:
    """What one stack showed. Layers count from the input; sizes are E|x|^2 / width, over tokens and features.

    gradients    Frobenius norm of the gradient of each layer's output matrix (W2 or WO)
    signals      norm of the gradient with respect to the stream: at the input, then behind each layer
    activations  size of the stream: at the input, then behind each layer
    sums         size of each layer's residual sum, before a norm that may follow (no residual: of F's output)
    slope        sum of the squared gradients of all matrices: by how much, per unit of learning rate, a small
                 step of gradient descent on them changes the loss
    output       (tokens, width), behind the final norm where there is one
    """

    setting: Setting
    gradients: tuple[float, ...]
    signals: tuple[float, ...]
    activations: tuple[float, ...]
    sums: tuple[float, ...]
    slope: float
    output: Array

    @property
    def kind(self) -> str:
        return self.setting.kind

    @property
    def depth(self) -> int:
        return self.setting.depth

    @property
    def width(self) -> int:
        return self.setting.width

    @property
    def seed(self) -> int:
        return self.setting.seed

    @property
    def last_gradient(self) -> float:
        """The gradient of the last layer's output matrix: the quantity of Theorem 1 in Xiong et al. 2020."""
        return self.gradients[-1]

    @property
    def ratio(self) -> float:
        """The first layer's gradient over the last one's."""
        return self.gradients[0] / self.gradients[-1] if self.gradients[-1] else float("inf")

    @property
    def output_size(self) -> float:
        return mean_square(self.output)


@dataclass(frozen=True, eq=False)
class Draw:
    """What the seed decides, alike for all kinds: input, upstream gradient, one set of matrices a layer."""

    x: Array
    upstream: Array
    more: Callable[[], Matrices]
    drawn: list[Matrices] = field(default_factory=list)

    def matrices(self, depth: int) -> tuple[Matrices, ...]:
        """Those of the first layers, drawn when first asked for: a deeper stack goes on where a shallower one ended."""
        while len(self.drawn) < depth:
            self.drawn.append(self.more())
        return tuple(self.drawn[:depth])


def run(
    kind: str, depth: int = DEPTH, width: int = WIDTH, seed: int = SEED, *, norm: str = "layer",
    sublayer: str = "ffn", tokens: int = TOKENS, heads: int = 4, progress: Progress | None = None,
) -> Run:  # fmt: skip
    """Run one stack; see `compare`."""
    options = {"norm": norm, "sublayer": sublayer, "tokens": tokens, "heads": heads, "progress": progress}
    return compare([kind], depth, width, seed, **options)[0]


def compare(
    kinds: Sequence[str], depth: int = DEPTH, width: int = WIDTH, seed: int = SEED, **options: Any
) -> tuple[Run, ...]:
    """Run stacks of several kinds on the same weights, input and upstream gradient.

    kinds are names of `stacks.KINDS`, with "-rms" for RMSNorm (or norm="rms" for all that have a norm).
    Further keywords: sublayer ("ffn", "attention", "both"), tokens, heads, progress. InputError for what
    cannot be run.
    """
    return depths(kinds, [depth], width, seed, **options)[0]


def depths(
    kinds: Sequence[str], depths: Sequence[int], width: int = WIDTH, seed: int = SEED, *, norm: str = "layer",
    progress: Progress | None = None, **options: Any,
) -> tuple[tuple[Run, ...], ...]:  # fmt: skip
    """For each depth the runs of all kinds. A shallower stack has the first layers of a deeper one."""
    names = [with_norm(kind, norm) for kind in kinds]
    total, done, rows = 2 * len(names) * sum(depths), 0, []
    for depth in depths:
        row = []
        for name in names:
            report = None if progress is None else _offset(progress, done, total)
            setting = Setting(name, depth, width, seed, step=report, **options)
            check(setting)
            row.append(measure(setting))
            done += 2 * depth
            if progress is not None:
                progress(done, total)
        rows.append(tuple(row))
    return tuple(rows)


def with_norm(kind: str, norm: str) -> str:
    """The kind's name with the norm in it; kinds without a norm, or with their own, stay as they are."""
    if norm not in ("layer", "rms"):
        raise InputError(f"there is no norm {norm!r} in the lab", hint="layer or rms")
    takes_one = find_kind(kind).placement not in ("plain", "residual") and find_kind(kind).norm == "layer"
    return f"{kind}-rms" if norm == "rms" and takes_one else kind


def _offset(progress: Progress, done: int, total: int) -> Callable[[int], None]:
    return lambda own: progress(done + own, total)


def check(setting: Setting) -> None:
    """InputError for a setting that cannot be run."""
    find_kind(setting.kind)
    if setting.sublayer not in SUBLAYERS:
        raise InputError(f"there is no sublayer {setting.sublayer!r}", hint="one of " + ", ".join(SUBLAYERS))
    limits = (("depth", 1, MOST_DEPTH), ("width", 2, 10_000), ("tokens", 1, 10_000), ("seed", 0, 2**63))
    for name, least, most in limits:
        if not least <= getattr(setting, name) <= most:
            raise InputError(f"{name} is {getattr(setting, name)}", hint=f"from {least} to {most}")
    if setting.sublayer != "ffn" and (setting.heads < 1 or setting.width % setting.heads):
        raise InputError(
            f"{setting.heads} heads do not divide a width of {setting.width}",
            hint="each head takes an equal slice of the width",
        )
    count = setting.depth * len(_names(setting.sublayer)) * setting.width**2
    if count > MOST_WEIGHTS:
        raise InputError(
            f"depth {setting.depth} and width {setting.width} make {count:,} weights: too many for the lab",
            hint=f"at most {MOST_WEIGHTS:,}: choose a smaller depth or width",
        )


def _names(sublayer: str) -> tuple[str, ...]:
    return tuple(name for part in SUBLAYERS[sublayer] for name in MATRICES[part])


@lru_cache(maxsize=1)
def draw(width: int, seed: int, sublayer: str, tokens: int) -> Draw:
    """Input, upstream gradient and Xavier weights (variance 1 / width) from one seed, layer after layer."""
    import numpy as np

    random = np.random.Generator(np.random.PCG64(seed))
    x = random.standard_normal((tokens, width))
    upstream = random.standard_normal((tokens, width))
    upstream /= np.sqrt((upstream**2).sum(axis=-1, keepdims=True))
    return Draw(x, upstream, lambda: {name: _xavier(random, width) for name in _names(sublayer)})


def _xavier(random: np.random.Generator, width: int) -> Array:
    """A matrix of normal values of variance 1 / width."""
    weight: Array = random.standard_normal((width, width))
    weight *= width**-0.5
    return weight


@lru_cache(maxsize=512)
def measure(setting: Setting) -> Run:
    """Forward and backward once; what is kept is small, so a page that asks again gets the same run."""
    import numpy as np

    drawn = draw(setting.width, setting.seed, setting.sublayer, setting.tokens)
    stack = build(find_kind(setting.kind), drawn.matrices(setting.depth), setting.sublayer, setting.heads)
    report = setting.step or (lambda done: None)
    matrix = OUTPUT[SUBLAYERS[setting.sublayer][-1]]
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        outputs, caches = forward(stack, drawn.x, report)
        end = stack.depth * stack.stride
        behind = [drawn.x, *outputs[stack.stride - 1 : end : stack.stride]]
        activations = tuple(map(mean_square, behind))
        sums = tuple(map(mean_square, outputs[_last_sum(stack) : end : stack.stride]))
        output = outputs[-1]
        output.flags.writeable = False
        del outputs, behind
        lengths, signals = backward(stack, caches, drawn.upstream, report)
    gradients = tuple(own[matrix] for own in lengths)
    slope = sum(value**2 for own in lengths for value in own.values())
    return Run(setting, gradients, signals, activations, sums, slope, output)


def _last_sum(stack: Stack) -> int:
    """Where within a layer its last residual sum is: at its end, or one before where a norm follows it."""
    from lnorm_cli.lab.layers import DynamicTanh, Norm

    return stack.stride - 1 - isinstance(stack.layers[stack.stride - 1], (Norm, DynamicTanh))


def forward(stack: Stack, x: Array, report: Callable[[int], None]) -> tuple[list[Array], list[Any]]:
    """The output of every entry of the stack, and the caches."""
    outputs, caches = [], []
    for index, layer in enumerate(stack.layers, start=1):
        x, cache = layer.forward(x)
        outputs.append(x)
        caches.append(cache)
        if index % stack.stride == 0:
            report(index // stack.stride)
    return outputs, caches


def backward(
    stack: Stack, caches: list[Any], dy: Array, report: Callable[[int], None]
) -> tuple[list[dict[str, float]], tuple[float, ...]]:
    """The lengths of each layer's matrices' gradients; those of the gradient on the stream behind each layer.

    A cache is let go as soon as it was used.
    """
    layers = list(stack.layers)
    while len(layers) > stack.depth * stack.stride:
        dy, _ = layers.pop().backward(caches.pop(), dy)
    lengths: list[dict[str, float]] = []
    signals = [length(dy)]
    for done in range(1, stack.depth + 1):
        own: dict[str, float] = {}
        for _ in range(stack.stride):
            dy, gradients = layers.pop().backward(caches.pop(), dy)
            own.update((name, length(gradient)) for name, gradient in gradients if gradient.ndim == 2)
        lengths.append(own)
        signals.append(length(dy))
        report(stack.depth + done)
    return lengths[::-1], tuple(signals[::-1])


def mean_square(x: Array) -> float:
    """E|x|^2 / width."""
    return squares(x) / x.size


def length(x: Array) -> float:
    """The Frobenius norm."""
    return float(squares(x) ** 0.5)


def squares(x: Array) -> float:
    """The sum of the squares, in one pass and, other than by BLAS, in the same order on any number of threads."""
    import numpy as np

    flat = x.reshape(-1)
    return float(np.einsum("i,i->", flat, flat))
