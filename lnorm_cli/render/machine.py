"""Results for programs: JSON documents and CSV, whole, straight to the stream."""

from __future__ import annotations

import csv
import json
import math
from typing import IO, Any

from lnorm_cli import exact
from lnorm_cli.compute import Computation, Row
from lnorm_cli.norm import Trace


def number(value: Any) -> float | str:
    """A float for JSON: -0 is 0, and what is not finite is a word."""
    value = float(value)
    if not math.isfinite(value):
        return str(value)
    return value + 0.0


def write_json(document: dict[str, Any], stream: IO[str]) -> None:
    """One document: ASCII, a line, nothing that JSON does not know."""
    stream.write(json.dumps(document, allow_nan=False) + "\n")


def compute_document(c: Computation) -> dict[str, Any]:
    """The lnorm/compute/1 document of a computation."""
    asked = c.request
    document: dict[str, Any] = {
        "schema": "lnorm/compute/1",
        "norm": asked.norm,
        "axis": list(asked.spec.axes),
        "shape": list(asked.x.shape),
        "dtype": asked.arithmetic.name,
        "accumulate": asked.arithmetic.accumulate,
        "eps": {"exact": exact.text(asked.eps), "float": number(exact.to_float(asked.eps))},
        "rows": [_row(c, row) for row in c.rows],
    }
    if c.float_backward is not None:
        document["backward"] = {
            name: _pair(
                getattr(c.float_backward, name),
                None if c.exact_backward is None else getattr(c.exact_backward, name),
            )
            for name in ("dgamma", "dbeta")
        }
    return document


def _row(c: Computation, row: Row) -> dict[str, Any]:
    steps = _steps(c.float_trace, c.exact_trace, row)
    entry: dict[str, Any] = {"index": list(row.index), "steps": steps}
    entry["output"] = {key: steps[-1][key] for key in ("exact", "float")}
    if row.by_hand is not None:
        entry["by_hand"] = {
            "exact": [exact.text(value) for value in row.by_hand],
            "float": [number(exact.to_float(value)) for value in row.by_hand],
        }
    if c.float_backward is not None:
        entry["backward"] = _steps(c.float_backward, c.exact_backward, row)
    if row.precision is not None:
        entry["precision"] = {
            "step": row.precision.step,
            "kind": row.precision.kind,
            "errors": {name: number(error) for name, error in row.precision.errors.items()},
        }
    return entry


def _steps(floats: Trace, exacts: Trace | None, row: Row) -> list[dict[str, Any]]:
    entries = []
    for step in floats:
        values = step.value[row.position]
        true = None
        if exacts is not None and row.exact_position is not None:
            true = exacts[step.name].value[row.exact_position]
        scalar = len(values) == 1 and step.operation in def _pair(floats: Any, exacts: Any) -> dict[str, Any]:
    def nested(array: Any, write: Any) -> Any:
        return [nested(part, write) for part in array] if getattr(array, "ndim", 0) else write(array)

    def shape(array: Any) -> Any:
        return array.reshape([size for size in array.shape if size != 1] or [1])

    return {
        "exact": None if exacts is None else nested(shape(exacts), lambda v: exact.text(v[()] if hasattr(v, "ndim") else v)),
        "float": nested(shape(floats), number),
    }


def write_csv(c: Computation, stream: IO[str]) -> None:
    """A line for each element: row, element, then every step, exact and float."""
    writer = csv.writer(stream, lineterminator="\n")
    names = [step.name for step in c.float_trace]
    sides = ["exact", "float"] if c.exact_trace is not None else ["float"]
    writer.writerow(["row", "element", *(f"{name}_{side}" for name in names for side in sides)])
    for row in c.rows:
        for element in range(c.request.layout.n):
            cells: list[Any] = []
            for name in names:
                values = c.float_trace[name].value[row.position]
                if c.exact_trace is not None:
                    true = c.exact_trace[name].value[row.exact_position or 0]
                    cells.append(exact.text(true[element % len(true)]))
                cells.append(repr(float(values[element % len(values)]) + 0.0))
            place = " ".join(map(str, row.index))
            writer.writerow([place, element, *cells])
