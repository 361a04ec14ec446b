"""How a value of a demo is written, in text and in Markdown alike."""

from __future__ import annotations

import math

from lnorm_cli.explain.content import Cell, Pair


def decimal(value: float) -> str:
    """A float with five significant digits; whole numbers in full up to seven digits."""
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e7:
        return str(int(value))
    return f"{value:.5g}"


def written(cell: Cell) -> str:
    """The text of a cell."""
    if isinstance(cell, Pair):
        short = decimal(cell.value)
        return short if cell.exact in (None, short) else f"{cell.exact} ≈ {short}"
    if isinstance(cell, tuple):
        return " ".join(f"{value + 0.0:.2f}" for value in cell)
    if isinstance(cell, float):
        return decimal(cell)
    return f"{cell:,}" if isinstance(cell, int) else cell
