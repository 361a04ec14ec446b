"""Results for programs: JSON documents and CSV, whole, straight to the stream."""

from __future__ import annotations

import csv
import json
import math
from typing import IO, Any

from lnorm_cli import exact
from lnorm_cli.compute import Computation, Row
from lnorm_cli.norm import Step


def number(value: Any) -> float | str:
    """A float for JSON: -0 is 0, and what is not finite is a word."""
    if not math.isfinite(value):
        return str(float(value))
    return float(value) + 0.0


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
    if c.parameter_gradients:
        document["backward"] = {name: _pair(*pair) for name, pair in c.parameter_gradients.items()}
    return document


def _row(c: Computation, row: Row) -> dict[str, Any]:
    steps = [_step(step, row) for step in c.forward]
    entry: dict[str, Any] = {"index": list(row.index), "steps": steps}
    entry["output"] = {key: steps[-1][key] for key in ("exact", "float")}
    if row.by_hand is not None:
        entry["by_hand"] = {
            "exact": [exact.text(value) for value in row.by_hand],
            "float": [number(exact.to_float(value)) for value in row.by_hand],
        }
    if c.backward:
        entry["backward"] = [_step(step, row) for step in c.backward]
    if row.precision is not None:
        entry["precision"] = {
            "step": row.precision.step,
            "kind": row.precision.kind,
            "errors": {name: number(error) for name, error in row.precision.errors.items()},
        }
    return entry


def _step(step: Step, row: Row) -> dict[str, Any]:
    floats: Any = [number(value) for value in row.floats[step.name]]
    exacts: Any = None if row.exacts is None else [exact.text(value) for value in row.exacts[step.name]]
    if step.statistic:
        floats, exacts = floats[0], exacts and exacts[0]
    return {"name": step.name, "exact": exacts, "float": floats}


def _pair(floats: Any, exacts: Any | None) -> dict[str, Any]:
    """A parameter's gradient, in the parameter's shape without axes of length 1."""
    shape = [size for size in floats.shape if size != 1] or [1]
    return {
        "exact": None if exacts is None else _nested(exacts.reshape(shape), exact.text),
        "float": _nested(floats.reshape(shape), number),
    }


def _nested(array: Any, write: Any) -> Any:
    return [_nested(part, write) for part in array] if getattr(array, "ndim", 0) else write(array)


def write_csv(c: Computation, stream: IO[str]) -> None:
    """A line for each element: row, element, then every step, exact and float."""
    writer = csv.writer(stream, lineterminator="\n")
    sides = ["exact", "float"] if c.rows[0].exacts is not None else ["float"]
    writer.writerow(["row", "element", *(f"{step.name}_{side}" for step in c.forward for side in sides)])
    for row in c.rows:
        for element in range(c.request.layout.n):
            cells: list[Any] = []
            for step in c.forward:
                place = 0 if step.statistic else element
                if row.exacts is not None:
                    cells.append(exact.text(row.exacts[step.name][place]))
                cells.append(repr(float(row.floats[step.name][place]) + 0.0))
            writer.writerow([" ".join(map(str, row.index)), element, *cells])
