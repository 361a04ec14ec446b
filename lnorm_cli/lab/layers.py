"""The layers that stacks are made of, each with a forward and a hand-written backward pass.

`forward(x)` takes (tokens, width) and returns the output with a cache: what the way back will need.
`backward(cache, dy)` takes the gradient of the loss with respect to the output; it returns the one with
respect to x, and those of the parameters, in the order of `parameters()`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from lnorm_cli.arithmetic import Float
from lnorm_cli.norm import RMS, Spec, backward, trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

Named: TypeAlias = "list[tuple[str, Array]]"
"""Parameters, or their gradients, by name."""

EPS = 1e-5


class Native(Float):
    """Float64 on arrays that are float64 already: the same operations, with nothing left to round or convert."""

    def array(self, values: Any) -> Array:
        import numpy as np

        return np.asarray(values, dtype=np.float64)

    def _rounded(self, function: Callable[..., Any], *operands: Array) -> Array:
        result: Array = function(*operands)
        return result


NATIVE = Native()


class Layer(Protocol):
    """Anything that runs forward and backward."""

    def forward(self, x: Array) -> tuple[Array, Any]: ...
    def backward(self, cache: Any, dy: Array) -> tuple[Array, Named]: ...
    def parameters(self) -> Named: ...


@dataclass
class Linear:
    """x W, without a bias."""

    name: str
    weight: Array

    def forward(self, x: Array) -> tuple[Array, Any]:
        return x @ self.weight, x

    def backward(self, cache: Any, dy: Array) -> tuple[Array, Named]:
        x = cache
        return dy @ self.weight.T, [(self.name, x.T @ dy)]

    def parameters(self) -> Named:
        return [(self.name, self.weight)]


@dataclass
class ReLU:
    """max(x, 0): the gradient passes where x is positive."""

    def forward(self, x: Array) -> tuple[Array, Any]:
        positive = x > 0
        return x * positive, positive

    def backward(self, cache: Any, dy: Array) -> tuple[Array, Named]:
        return dy * cache, []

    def parameters(self) -> Named:
        return []


@dataclass
class Norm:
    """LayerNorm or RMSNorm, as `spec` says; its cache is the trace."""

    spec: Spec
    gamma: Array
    beta: Array

    def forward(self, x: Array) -> tuple[Array, Any]:
        done = trace(x, self.spec, NATIVE, gamma=self.gamma, beta=self.beta, eps=EPS)
        return done.output, done

    def backward(self, cache: Any, dy: Array) -> tuple[Array, Named]:
        done = backward(cache, dy)
        gradients = [("gamma", done.dgamma.reshape(-1)), ("beta", done.dbeta.reshape(-1))]
        return done.layout.restore(done["dx"].value), gradients[: len(self.parameters())]

    def parameters(self) -> Named:
        scale: Named = [("gamma", self.gamma)]
        return scale if self.spec == RMS else [*scale, ("beta", self.beta)]


@dataclass
class DynamicTanh:
    """gamma tanh(alpha x) + beta, one learned slope alpha for all features (Zhu et al. 2025)."""

    alpha: Array
    gamma: Array
    beta: Array

    def forward(self, x: Array) -> tuple[Array, Any]:
        import numpy as np

        squashed = np.tanh(self.alpha * x)
        return self.gamma * squashed + self.beta, (x, squashed)

    def backward(self, cache: Any, dy: Array) -> tuple[Array, Named]:
        x, squashed = cache
        inner = dy * self.gamma * (1 - squashed**2)
        gradients = [
            ("alpha", (inner * x).sum().reshape(1)),
            ("gamma", (dy * squashed).sum(axis=0)),
            ("beta", dy.sum(axis=0)),
        ]
        return self.alpha * inner, gradients

    def parameters(self) -> Named:
        return [("alpha", self.alpha), ("gamma", self.gamma), ("beta", self.beta)]


@dataclass
class Attention:
    """Self-attention of several heads, without a mask: each head sees its own slice of the width."""

    heads: int
    query: Array
    key: Array
    value: Array
    out: Array

    def forward(self, x: Array) -> tuple[Array, Any]:
        q, k, v = (self.split(x @ weight) for weight in (self.query, self.key, self.value))
        weights = softmax(q @ k.swapaxes(-1, -2) * self.scale(q))
        merged = self.merge(weights @ v)
        return merged @ self.out, (x, q, k, v, weights, merged)

    def backward(self, cache: Any, dy: Array) -> tuple[Array, Named]:
        x, q, k, v, weights, merged = cache
        dheads = self.split(dy @ self.out.T)
        dweights = dheads @ v.swapaxes(-1, -2)
        # Softmax: a score moves its own weight up and, as the weights sum to 1, all of them down together.
        dscores = weights * (dweights - (weights * dweights).sum(axis=-1, keepdims=True)) * self.scale(q)
        dq, dk, dv = (
            self.merge(part) for part in (dscores @ k, dscores.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ dheads)
        )
        dx = dq @ self.query.T + dk @ self.key.T + dv @ self.value.T
        return dx, [("WQ", x.T @ dq), ("WK", x.T @ dk), ("WV", x.T @ dv), ("WO", merged.T @ dy)]

    def parameters(self) -> Named:
        return [("WQ", self.query), ("WK", self.key), ("WV", self.value), ("WO", self.out)]

    def split(self, x: Array) -> Array:
        """(tokens, width) to (heads, tokens, width / heads)."""
        tokens, width = x.shape
        return x.reshape(tokens, self.heads, width // self.heads).swapaxes(0, 1)

    def merge(self, heads: Array) -> Array:
        """The inverse of `split`."""
        count, tokens, slice_width = heads.shape
        return heads.swapaxes(0, 1).reshape(tokens, count * slice_width)

    @staticmethod
    def scale(q: Array) -> float:
        """1 / sqrt(d_k), which keeps the scores' variance at that of one product."""
        return float(q.shape[-1] ** -0.5)


@dataclass
class Chain:
    """Layers one after another."""

    layers: Sequence[Layer]

    def forward(self, x: Array) -> tuple[Array, Any]:
        caches = []
        for layer in self.layers:
            x, cache = layer.forward(x)
            caches.append(cache)
        return x, caches

    def backward(self, cache: Any, dy: Array) -> tuple[Array, Named]:
        gradients: Named = []
        for layer, own in zip(reversed(self.layers), reversed(cache), strict=True):
            dy, found = layer.backward(own, dy)
            gradients = found + gradients
        return dy, gradients

    def parameters(self) -> Named:
        return [named for layer in self.layers for named in layer.parameters()]


@dataclass
class Residual:
    """shortcut x + branch(x): on the way back the gradient arrives twice, past the branch and through it."""

    branch: Layer
    shortcut: float = field(default=1.0)

    def forward(self, x: Array) -> tuple[Array, Any]:
        update, cache = self.branch.forward(x)
        return self.shortcut * x + update, cache

    def backward(self, cache: Any, dy: Array) -> tuple[Array, Named]:
        through, gradients = self.branch.backward(cache, dy)
        return self.shortcut * dy + through, gradients

    def parameters(self) -> Named:
        return self.branch.parameters()


def softmax(scores: Array) -> Array:
    """Weights that sum to 1 along the last axis; the maximum is subtracted first: no exp overflows."""
    import numpy as np

    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights: Array = raised / raised.sum(axis=-1, keepdims=True)
    return weights
