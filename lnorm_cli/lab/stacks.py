"""The kinds of stack: where the norm sits, which one it is, and how a list of layers is built from that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from lnorm_cli.errors import InputError
from lnorm_cli.lab.layers import Attention, Chain, DynamicTanh, Layer, Linear, Norm, ReLU, Residual
from lnorm_cli.norm import LAYER, RMS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

Matrices: TypeAlias = "Mapping[str, Array]"
"""The weight matrices of one layer by name: W1, W2 (feed-forward), WQ, WK, WV, WO (attention)."""

SUBLAYERS: Mapping[str, tuple[str, ...]] = {
    "ffn": ("ffn",),
    "attention": ("attention",),
    "both": ("attention", "ffn"),
}
"""What a layer consists of; "both" is a whole transformer layer."""

MATRICES = {"ffn": ("W1", "W2"), "attention": ("WQ", "WK", "WV", "WO")}
OUTPUT = {"ffn": "W2", "attention": "WO"}
"""The matrix that a sublayer ends with."""

DYT_ALPHA = 0.5


@dataclass(frozen=True)
class Kind:
    """How each sublayer F is wired; `final` puts one more norm behind the last layer."""

    placement: Literal["plain", "residual", "post", "pre", "sandwich"]
    description: str
    final: bool = False
    scaled: bool = False
    norm: Literal["layer", "rms", "dyt"] = "layer"


KINDS: Mapping[str, Kind] = {
    "none": Kind("plain", "F(x): no residual, no norm"),
    "residual": Kind("residual", "x + F(x): residual only"),
    "post": Kind("post", "N(x + F(x)): post-norm"),
    "pre": Kind("pre", "x + F(N(x)), with a final norm: pre-norm", final=True),
    "pre-no-final": Kind("pre", "x + F(N(x)), the final norm left out"),
    "sandwich": Kind("sandwich", "x + N(F(N(x))), with a final norm: sandwich, Peri-LN", final=True),
    "deepnorm": Kind("post", "N(alpha x + F(x)), F's weights times beta: DeepNorm", scaled=True),
    "dyt": Kind("pre", "pre-norm with gamma tanh(alpha x) + beta for N", final=True, norm="dyt"),
}
"""In teaching order. With the suffix "-rms", N is RMSNorm."""

ALIASES = {"peri": "sandwich", "peri-ln": "sandwich"}


def find_kind(name: str) -> Kind:
    """The kind of that name, such as "pre" or "pre-rms"; InputError lists them."""
    base, _, suffix = name.partition("-rms")
    kind = KINDS.get(ALIASES.get(base, base))
    if kind is None or suffix or (name != base and (kind.norm == "dyt" or kind.placement in ("plain", "residual"))):
        raise InputError(
            f"there is no kind of stack {name!r}",
            hint="one of " + ", ".join(KINDS) + "; with -rms where it has a norm, such as pre-rms",
        )
    return replace(kind, norm="rms") if name != base else kind


def deepnorm_scales(depth: int) -> tuple[float, float]:
    """alpha of the shortcut and beta of the weights for an encoder of `depth` layers (Wang et al. 2022)."""
    return (2 * depth) ** 0.25, (8 * depth) ** -0.25


@dataclass(frozen=True)
class Stack:
    """One list of layers: `stride` of them make up each layer of the network, the rest is the final norm."""

    layers: Sequence[Layer]
    stride: int
    depth: int

    def parameters(self) -> list[tuple[str, Array]]:
        return Chain(self.layers).parameters()


def build(kind: Kind, matrices: Sequence[Matrices], sublayer: str, heads: int) -> Stack:
    """A stack of `kind`, one layer for each entry of `matrices`."""
    depth, width = len(matrices), next(iter(matrices[0].values())).shape[0]
    alpha, beta = deepnorm_scales(depth) if kind.scaled else (1.0, 1.0)
    layers: list[Layer] = []
    for own in matrices:
        if kind.scaled:
            own = {name: weight if name in ("WQ", "WK") else beta * weight for name, weight in own.items()}
        for part in SUBLAYERS[sublayer]:
            branch = feed_forward(own) if part == "ffn" else attention(own, heads)
            layers += wire(kind, branch, width, alpha)
    stride = len(layers) // depth
    if kind.final:
        layers.append(make_norm(kind, width))
    return Stack(layers, stride, depth)


def wire(kind: Kind, branch: Layer, width: int, alpha: float = 1.0) -> list[Layer]:
    """The layers that one sublayer becomes: this is all that the kinds differ in."""
    if kind.placement == "plain":
        return [branch]
    if kind.placement == "residual":
        return [Residual(branch)]
    if kind.placement == "post":
        return [Residual(branch, shortcut=alpha), make_norm(kind, width)]
    if kind.placement == "pre":
        return [Residual(Chain([make_norm(kind, width), branch]))]
    return [Residual(Chain([make_norm(kind, width), branch, make_norm(kind, width)]))]


def make_norm(kind: Kind, width: int) -> Layer:
    """A fresh norm: gamma 1, beta 0."""
    import numpy as np

    gamma, beta = np.ones(width), np.zeros(width)
    if kind.norm == "dyt":
        return DynamicTanh(np.array([DYT_ALPHA]), gamma, beta)
    return Norm(RMS if kind.norm == "rms" else LAYER, gamma, beta)


def feed_forward(own: Matrices) -> Layer:
    """ReLU(x W1) W2."""
    return Chain([Linear("W1", own["W1"]), ReLU(), Linear("W2", own["W2"])])


def attention(own: Matrices, heads: int) -> Layer:
    """Self-attention with the matrices of `own`."""
    return Attention(heads, own["WQ"], own["WK"], own["WV"], own["WO"])
