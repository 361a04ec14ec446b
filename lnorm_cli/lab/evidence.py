"""The measurements behind the claims: each function runs stacks and says what came out, and whether it fits.

"Flat" and "about" mean within `TOLERANCE`, of the mean and of the expected value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from lnorm_cli.lab.runs import Run, run

TOLERANCE = 0.25

Verdict: TypeAlias = "tuple[str, bool]"
"""What was measured, in a few words, and whether it shows the claim."""


@dataclass(frozen=True)
class Bench:
    """The runs that claims are judged on: some depths in rising order, one width, a few seeds."""

    depths: tuple[int, ...]
    width: int
    seeds: tuple[int, ...]

    @property
    def middle(self) -> int:
        """The depth for claims about one stack."""
        return self.depths[len(self.depths) // 2]

    def mean(self, of: Callable[[Run], float], kind: str, depth: int, sublayer: str = "ffn") -> float:
        """The mean over the seeds of what `of` takes from a run."""
        runs = [run(kind, depth, self.width, seed, sublayer=sublayer) for seed in self.seeds]
        return mean([of(one) for one in runs])

    def by_depth(self, of: Callable[[Run], float], kind: str) -> list[float]:
        """That mean for each depth."""
        return [self.mean(of, kind, depth) for depth in self.depths]

    @property
    def at(self) -> str:
        return "at L = " + ", ".join(map(str, self.depths))

    @property
    def setup(self) -> str:
        """The runs in words."""
        seeds = "mean over seeds " if len(self.seeds) > 1 else "seed "
        return (
            f"feed-forward sublayers at initialization; depths {', '.join(map(str, self.depths))}; "
            f"width {self.width}; {seeds}{', '.join(map(str, self.seeds))}"
        )


def post_last_layer(bench: Bench) -> Verdict:
    gradients = bench.by_depth(lambda run: run.last_gradient, "post")
    return f"{numbers(gradients)} {bench.at}", flat(gradients)


def pre_last_layer(bench: Bench) -> Verdict:
    gradients = bench.by_depth(lambda run: run.last_gradient, "pre")
    scaled = [value * depth**0.5 for value, depth in zip(gradients, bench.depths, strict=True)]
    return f"{numbers(gradients)} {bench.at}; times sqrt(L): {numbers(scaled)}", flat(scaled)


def post_size(bench: Bench) -> Verdict:
    depth = bench.middle
    alone = bench.mean(lambda run: mean(run.sums), "post", depth)
    whole = bench.mean(lambda run: mean(run.sums), "post", depth, "both")
    measured = f"{alone:.3g} over {depth} layers; {whole:.3g} with attention in each layer"
    return measured, about(alone, 1.5) and about(whole, 1.5)


def pre_size(bench: Bench) -> Verdict:
    depth = bench.middle
    alone = bench.mean(lambda run: run.activations[-1], "pre", depth)
    whole = bench.mean(lambda run: run.activations[-1], "pre", depth, "both")
    low, high = 1 + depth / 2, 1 + 3 * depth / 2
    inside = low * (1 - TOLERANCE) <= whole <= high * (1 + TOLERANCE)
    measured = (
        f"{alone:.3g} with feed-forward alone, {whole:.3g} with attention and feed-forward; "
        f"bounds {low:g} and {high:g} at l = {depth}"
    )
    return measured, inside and about(alone, low)


def early_late(bench: Bench) -> Verdict:
    ratios = bench.by_depth(lambda run: run.ratio, "pre")
    return f"first layer over last: {numbers(ratios)} {bench.at}", ratios[-1] > 1 + TOLERANCE


DECAY = 0.95
"""A factor a layer that would count as geometric decay."""


def early_decay(bench: Bench) -> Verdict:
    ratios = bench.by_depth(lambda run: run.ratio, "post")
    factor = ratios[-1] ** (1 / max(1, bench.depths[-1] - 1))
    measured = f"first layer over last: {numbers(ratios)} {bench.at}; in the deepest {factor:.3f} a layer"
    return measured, factor < DECAY


def identity_path(bench: Bench) -> Verdict:
    plain = bench.by_depth(lambda run: run.signals[0] / run.signals[-1], "none")
    residual = bench.by_depth(lambda run: run.signals[0] / run.signals[-1], "residual")
    measured = (
        f"gradient at the input over that at the output {bench.at}: "
        f"{numbers(plain)} without shortcuts, {numbers(residual)} with them"
    )
    return measured, plain[-1] < 0.1 and all(value >= 1 for value in residual)


def final_norm(bench: Bench) -> Verdict:
    gradients = bench.by_depth(lambda run: run.last_gradient, "pre-no-final")
    bare = bench.by_depth(lambda run: run.output_size, "pre-no-final")
    normed = bench.by_depth(lambda run: run.output_size, "pre")
    measured = (
        f"output size {numbers(bare)} without, {numbers(normed)} with it {bench.at}; "
        f"last layer's gradient without it: {numbers(gradients)}"
    )
    return measured, flat(gradients) and flat(normed) and bare[-1] > 2


def pre_growth(bench: Bench) -> Verdict:
    sizes = bench.by_depth(lambda run: run.activations[-1], "pre")
    slopes = _slopes(bench, sizes)
    return f"{numbers(sizes)} {bench.at}: {numbers(slopes)} a layer, linear", not flat(slopes)


def peri_growth(bench: Bench) -> Verdict:
    sizes = bench.by_depth(lambda run: run.activations[-1], "sandwich")
    slopes = _slopes(bench, sizes)
    return f"{numbers(sizes)} {bench.at}: {numbers(slopes)} a layer", flat(slopes)


def deepnorm_step(bench: Bench) -> Verdict:
    scaled = bench.by_depth(lambda run: run.slope, "deepnorm")
    post = bench.by_depth(lambda run: run.slope, "post")
    measured = (
        "change of the loss by a small step, per unit of learning rate: "
        f"{numbers(scaled)} {bench.at} (Post-LN: {numbers(post)})"
    )
    return measured, flat(scaled)


def _slopes(bench: Bench, sizes: Sequence[float]) -> list[float]:
    """Growth a layer, from an input of size 1."""
    return [(size - 1) / depth for size, depth in zip(sizes, bench.depths, strict=True)]


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def about(value: float, expected: float) -> bool:
    """Whether a value is within the tolerance of what is expected."""
    return abs(value - expected) <= TOLERANCE * abs(expected)


def flat(values: Sequence[float]) -> bool:
    """Whether all values are within the tolerance of their mean."""
    return all(about(value, mean(values)) for value in values)


def numbers(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)
