"""How an array falls into rows that share statistics, and where gamma and beta stand in it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Layout:
    """How an array of `shape` falls into rows: sets of elements along `axes`, in row-major order."""

    shape: tuple[int, ...]
    axes: tuple[int, ...]

    def __post_init__(self) -> None:
        rank = len(self.shape)
        for axis in self.axes:
            if not -rank <= axis < rank:
                raise InputError(
                    f"axis {axis} does not exist: x has {rank} {'axis' if rank == 1 else 'axes'} (shape {self.shape})",
                    hint=f"axes run from {-rank} to {rank - 1}",
                )
        if len({axis % rank for axis in self.axes}) < len(self.axes) or not self.axes:
            raise InputError(f"axes {self.axes} must be distinct", hint="name each axis once")

    @cached_property
    def reduced(self) -> tuple[int, ...]:
        """The axes of a row, counted from the front, in order."""
        return tuple(sorted(axis % len(self.shape) for axis in self.axes))

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """The axes that number the rows."""
        return tuple(axis for axis in range(len(self.shape)) if axis not in self.reduced)

    @cached_property
    def n(self) -> int:
        """Elements in a row."""
        return math.prod(self.shape[axis] for axis in self.reduced)

    @cached_property
    def count(self) -> int:
        """Number of rows: as many means as this."""
        return math.prod(self.shape[axis] for axis in self.kept)

    def rows(self, array: Array) -> Array:
        """The array, broadcast to `shape`, as (rows, n)."""
        import numpy as np

        whole = array if array.shape == self.shape else np.broadcast_to(array, self.shape)
        return whole.transpose(self.kept + self.reduced).reshape(self.count, self.n)

    def restore(self, rows: Array) -> Array:
        """The inverse of `rows`."""
        order = self.kept + self.reduced
        back = [order.index(axis) for axis in range(len(order))]
        return rows.reshape([self.shape[axis] for axis in order]).transpose(back)

    def index(self, row: int) -> tuple[int, ...]:
        """Where a row stands along the kept axes."""
        import numpy as np

        return tuple(int(i) for i in np.unravel_index(row, [self.shape[axis] for axis in self.kept]))


@lru_cache(maxsize=64)
def layout_of(shape: tuple[int, ...], axes: tuple[int, ...]) -> Layout:
    """The layout, one object for all arrays alike: stacks normalize the same shape again and again."""
    return Layout(shape, axes)


def align(parameter: Any, name: str, shape: tuple[int, ...], axes: tuple[int, ...], *, channels: bool = False) -> Array:
    """Give gamma or beta as many axes as x has, so that it broadcasts.

    Taken are: one number; the shape of the normalized axes (with `channels`, as BatchNorm has it, of the
    other ones); a shape of x's rank that broadcasts to x, as ONNX allows. InputError names both shapes.
    """
    import numpy as np

    array = np.asarray(parameter)
    layout = Layout(shape, axes)
    own = layout.kept if channels else layout.reduced
    if channels and len(shape) > 1:
        own = (1,) if 1 in layout.kept else layout.kept
    places = [size if axis in own else 1 for axis, size in enumerate(shape)]
    if array.size == 1:
        return np.broadcast_to(array.reshape([1] * len(shape)), places)
    expected = tuple(shape[axis] for axis in own)
    if array.shape == expected:
        return array.reshape(places)
    if array.ndim == len(shape) and all(given in (1, size) for given, size in zip(array.shape, shape, strict=True)):
        return array
    if array.ndim == 1 and len(expected) == 1:
        raise InputError(
            f"{name} has {array.size} values, a row of x has {expected[0]} features",
            hint=f"give {name} one number, or {expected[0]} of them",
        )
    raise InputError(
        f"{name} has shape {array.shape}, the normalized axes of x have {expected}",
        hint=f"give {name} one number, the shape {expected}, or {len(shape)} axes that broadcast to {shape}",
    )
