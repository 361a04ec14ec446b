"""What could have been done: single faults, and faults together, as wrong Specs for one problem."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any

from lnorm_cli.exact import Exact
from lnorm_cli.faults.catalogue import Changes, catalogue, is_rms
from lnorm_cli.norm import Spec

MOST_AXES = 5
"""Sets of other axes are tried up to this rank."""


@dataclass(frozen=True)
class Piece:
    """One fault as changes of the Spec and of epsilon; `detail` is what the id leaves open."""

    id: str
    changes: tuple[tuple[str, Any], ...]
    detail: str = ""
    paired: bool = True

    @property
    def touched(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.changes)


@dataclass(frozen=True)
class Candidate:
    """Faults that act together: the wrong Spec and epsilon they amount to."""

    pieces: tuple[Piece, ...]
    spec: Spec
    eps: Exact

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(piece.id for piece in self.pieces)

    @property
    def details(self) -> tuple[str, ...]:
        return tuple(piece.detail for piece in self.pieces if piece.detail)

    @property
    def rarity(self) -> int:
        """How far-fetched it is: the sum over its faults."""
        return sum(catalogue()[piece.id].rarity for piece in self.pieces)


@cache
def library_epsilons() -> tuple[tuple[Fraction, tuple[str, ...]], ...]:
    """Epsilons in use, largest first, each with the libraries and models that default to it."""
    text = files("lnorm_cli").joinpath("data/epsilons.toml").read_text(encoding="utf-8")
    users: dict[Fraction, list[str]] = {Fraction(1, 10**k): [] for k in (2, 3, 4, 5, 6, 7, 8, 12)}
    for entry in tomllib.loads(text)["default"]:
        users.setdefault(Fraction(entry["eps"]), []).append(entry["name"])
    return tuple((eps, tuple(users[eps])) for eps in sorted(users, reverse=True))


def epsilon_detail(eps: Fraction) -> str:
    """`1e-3 (default of Keras LayerNormalization)`."""
    users = dict(library_epsilons()).get(eps, ())
    return f"epsilon {short(eps)}" + (f" (default of {', '.join(users)})" if users else "")


def short(eps: Fraction) -> str:
    text = f"{float(eps):.4g}"
    if text.startswith("0.0") and text.strip("0.") == "1":
        return f"1e-{len(text) - 2}"
    return text.replace("e-0", "e-")


def pieces(spec: Spec, shape: tuple[int, ...], eps: Exact) -> tuple[list[Piece], list[Piece]]:
    """Single faults for x of this shape: those of the statistics, and those of gamma and beta."""
    statistics: list[Piece] = []
    affine: list[Piece] = []
    for name, fault in catalogue().items():
        changes = fault.changes_of(spec)
        if changes is not None and fault.group != "precision" and _possible(changes, spec, shape, eps):
            piece = Piece(name, tuple(changes.items()), paired=fault.paired)
            (affine if fault.group == "affine" else statistics).append(piece)
    for value, _ in library_epsilons():
        if value != eps:
            statistics.append(Piece("epsilon-value", (("eps", value),), epsilon_detail(value)))
    statistics.extend(_axes(spec, shape))
    statistics.extend(_padding(spec, shape))
    return statistics, affine


def _possible(changes: Changes, spec: Spec, shape: tuple[int, ...], eps: Exact) -> bool:
    n = _features(spec, shape)
    if changes.get("divisor") == "n-1" and n < 2:
        return False
    if changes.get("pool") == "column":
        rows = 1
        for size in shape:
            rows *= size
        return rows == n * n and len(shape) > 1
    return not ("epsilon" in changes and eps == 0)


def _features(spec: Spec, shape: tuple[int, ...]) -> int:
    n = 1
    for axis in spec.axes:
        n *= shape[axis]
    return n


def _axes(spec: Spec, shape: tuple[int, ...]) -> Iterator[Piece]:
    rank = len(shape)
    asked = frozenset(axis % rank for axis in spec.axes)
    if rank == 1 or rank > MOST_AXES:
        return
    long = [axis for axis in range(rank) if shape[axis] > 1]
    short = [axis for axis in range(1, rank) if shape[axis] == 1]  # in or out, the elements are the same
    for count in range(1, len(long) + 1):
        for combination in itertools.combinations(long, count):
            axes = tuple(sorted({*combination, *(short if count > 1 else ())}))
            if {axis for axis in asked if shape[axis] > 1} == set(combination):
                continue
            whole = asked < set(axes) and set(long) - set(axes) <= {0}
            words = f"axis {axes[0]}" if len(axes) == 1 else "axes " + ", ".join(map(str, axes))
            yield Piece("all-axes" if whole else "wrong-axis", (("axes", axes),), f"statistics over {words}")


def _padding(spec: Spec, shape: tuple[int, ...]) -> Iterator[Piece]:
    n = _features(spec, shape)
    rows = 1
    for size in shape:
        rows *= size
    for name, fault in catalogue().items():
        for variant in fault.variants:
            for count in _counts(variant["pool"], n, rows // n):
                if variant["pool"] == "padded-variance" and spec.spread == "mean-square":
                    continue
                changes = (*variant.items(), ("padding", count))
                yield Piece(name, changes, _padding_words(variant["pool"], count, n), paired=False)


def _counts(pool: str, n: int, rows: int) -> list[int]:
    if pool == "truncated":
        return [count for count in (1, 2, 3) if n - count >= 2]
    if pool == "neighbours":
        return [count for count in (1, 2) if rows > 1 and count <= n]
    blocks = {-n % size for size in (4, 8, 16, 32, 64, 128, 256, 512, 1024)}
    blocks |= {(1 << (n - 1).bit_length()) - n}
    return sorted(({1, 2, 3, 4} | {count for count in blocks if count <= 4 * n}) - {0})


def _padding_words(pool: str, count: int, n: int) -> str:
    zeros = f"{count} padded zero{'s' if count > 1 else ''}"
    return {
        "padded-variance": f"{zeros} counted in the sum of squared deviations, the mean right",
        "padded": f"{zeros} counted in the sums, which were divided by {n + count}",
        "truncated": f"the last {count} of {n} features left out",
        "neighbours": f"{count} of the next row's features counted",
    }[pool]


def combine(parts: Sequence[Piece], spec: Spec, eps: Exact) -> Candidate | None:
    """The parts as one Candidate; None when they contradict each other or one makes another moot."""
    touched: set[str] = set()
    changes: dict[str, Any] = {}
    for part in parts:
        if touched & part.touched:
            return None
        touched |= part.touched
        changes.update(part.changes)
    if len(parts) > 1 and _pointless(changes, spec):
        return None
    epsilon = changes.pop("eps", eps)
    return Candidate(tuple(parts), replace(spec, **changes), epsilon)


def _pointless(changes: dict[str, Any], spec: Spec) -> bool:
    """Whether one of the changes cannot show beside another."""
    epsilon = changes.get("epsilon", spec.epsilon)
    if "eps" in changes and epsilon == "omitted":
        return True
    if changes.get("spread") == "mean-absolute" and "divisor" in changes:
        return True
    if changes.get("power") == 0 and ({"divisor", "spread", "epsilon", "eps"} & set(changes)):
        return True
    if epsilon == "alone" and ({"divisor", "spread", "eps"} & set(changes)):
        return True
    if is_rms(spec) and changes.get("numerator") == "flipped":
        return True
    return changes.get("pool", "row") != "row" and bool({"axes", "eps"} & set(changes))


def together(statistics: Sequence[Piece], spec: Spec, eps: Exact, count: int) -> Iterator[Candidate]:
    """Every sensible combination of `count` faults of the statistics; those not `paired` stand alone."""
    for parts in itertools.combinations((s for s in statistics if s.paired or count == 1), count):
        candidate = combine(parts, spec, eps)
        if candidate is not None:
            yield candidate
