"""Arrays from files and standard input: json, csv or txt, npy, npz."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lnorm_cli.errors import InputError
from lnorm_cli.exact import Exact
from lnorm_cli.reading.binary import NAMES, checked, load_npy, load_npz
from lnorm_cli.reading.grammar import parse_number
from lnorm_cli.reading.lists import MAX_RANK, to_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TEXT_SUFFIXES = {".csv", ".txt", ".tsv", ".dat"}
_LARGEST = Fraction(sys.float_info.max)


@dataclass
class Arrays:
    """What a file holds. Text keeps exact values (object arrays); npy and npz keep their own dtype."""

    x: NDArray[Any]
    gamma: NDArray[Any] | None = None
    beta: NDArray[Any] | None = None
    eps: Exact | None = None


def read_arrays(source: str, *, finite: bool = True) -> Arrays:
    """Read `x`, and what else the file holds, from a path or, for "-", standard input.

    Raises InputError (naming file and place) for what cannot be read, is empty, ragged or not a number; with
    `finite` also for nan and infinity.
    """
    name = "standard input" if source == "-" else source
    try:
        return _read(source, finite)
    except InputError as error:
        raise error.located(name) from None


def _read(source: str, finite: bool) -> Arrays:
    if source == "-":
        if sys.stdin is None:
            raise InputError("is closed", hint="pipe the numbers in, or give a file")
        data, suffix = sys.stdin.buffer.read(), ""
    else:
        path = Path(source)
        suffix = path.suffix.lower()
        try:
            with path.open("rb") as file:
                head = file.read(8)
                if head[:6] == b"\x93NUMPY" or (suffix == ".npy" and head[:4] != b"PK\x03\x04"):
                    return Arrays(checked(load_npy(path), "x", finite))
                data = head + file.read()
        except InputError:
            raise
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"cannot be read: {reason}", hint="check the file name") from None
    if data[:6] == b"\x93NUMPY":
        return Arrays(checked(load_npy(BytesIO(data)), "x", finite))
    if data[:4] == b"PK\x03\x04" or suffix == ".npz":
        return _read_npz(data, finite)
    text = _decode(data)
    if suffix == ".json" or (suffix not in _TEXT_SUFFIXES and text.lstrip()[:1] in ("[", "{")):
        return _read_json(text, finite)
    return Arrays(_read_table(text, finite))


def _decode(data: bytes) -> str:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start + 1} is not {encoding[:6].upper().rstrip('-')} text",
            hint="save it as UTF-8 text, or as .npy",
        ) from None
    if "\0" in text:
        raise InputError("holds NUL characters, so it is not text", hint="save it as UTF-8 text, or as .npy")
    if not text.strip():
        raise InputError("is empty", hint="give at least one number")
    return text


def _read_npz(data: bytes, finite: bool) -> Arrays:
    found = load_npz(data, finite)
    eps = Fraction(float(found["eps"][0])) if "eps" in found else None
    return Arrays(found["x"], found.get("gamma"), found.get("beta"), eps)


def _read_json(text: str, finite: bool) -> Arrays:
    import json

    try:
        document = json.loads(
            text,
            parse_float=_JsonNumber,
            parse_int=_JsonNumber,
            parse_constant=_JsonNumber,
            object_pairs_hook=_unique,
        )
    except json.JSONDecodeError as error:
        raise InputError(
            f"is not JSON: {error.msg} (line {error.lineno}, column {error.colno})",
            hint='give an array such as [2, 4, 4, 6] or an object such as {"x": [2, 4, 4, 6]}',
        ) from None
    except RecursionError:
        raise InputError("is nested too deeply", hint=f"lnorm takes up to {MAX_RANK} axes") from None
    fields = document if isinstance(document, dict) else {"x": document}
    unknown = [name for name in fields if name not in NAMES]
    if unknown:
        raise InputError(f"unknown field {unknown[0]!r}", hint="an object has x, and may have gamma, beta, eps")
    if "x" not in fields:
        raise InputError("has no field x", hint='{"x": [2, 4, 4, 6]}')
    values = {name: to_array(_json_values(item, name, finite), name) for name, item in fields.items()}
    eps = values.pop("eps", None)
    if eps is not None and eps.ndim:
        raise InputError("eps must be one number", hint='{"x": [2, 4, 4, 6], "eps": 1e-5}')
    x = values["x"]
    return Arrays(
        x if x.ndim else x.reshape(1),
        values.get("gamma"),
        values.get("beta"),
        None if eps is None else eps[()],
    )


class _JsonNumber(str):
    """The text of a JSON number: its value is taken from the text, never by way of a binary float."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"field {twice!r} stands twice", hint="keep one of them")
    return fields


def _json_values(item: Any, place: str, finite: bool) -> Any:
    if isinstance(item, list):
        return [_json_values(entry, f"{place}[{i}]", finite) for i, entry in enumerate(item)]
    if not isinstance(item, str):
        shown = {None: "null", True: "true", False: "false"}[item] if not isinstance(item, dict) else "an object"
        raise InputError(f"{place} is {shown}, not a number", hint='give a number, or a string such as "1/3"')
    if not finite and item.strip().lower().lstrip("+-\u2212") in ("nan", "inf", "infinity"):
        return float(item.replace("\u2212", "-"))
    try:
        value = parse_number(item)
    except InputError as error:
        raise error.located(place) from None
    if isinstance(item, _JsonNumber) and isinstance(value, Fraction) and abs(value) > _LARGEST:
        raise InputError(
            f"{place} is {item}, beyond float64 (other JSON readers take it for infinity)",
            hint=f'write it as a string to keep it exact: "{item}"',
        )
    return value


def _read_table(text: str, finite: bool) -> NDArray[Any]:
    """A row a line; commas, semicolons, tabs or spaces between cells; a heading line is passed over, and said."""
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise InputError("holds only comments", hint="give at least one number")
    separator = next((mark for mark in (";", ",", "\t") if any(mark in line for _, line in lines)), None)
    rows: list[list[Any]] = []
    for number, line in lines:
        cells = _cells(line, separator)
        if not rows and number == lines[0][0] and len(lines) > 1 and _is_heading(cells):
            print(f"note: line {number} is taken for a heading, not data", file=sys.stderr)
            continue
        rows.append([_cell(cell, number, column, separator, finite) for column, cell in enumerate(cells, 1)])
        if len(rows[-1]) != len(rows[0]):
            raise InputError(
                f"is ragged: row {len(rows)} (line {number}) has {len(rows[-1])} values, row 1 has {len(rows[0])}",
                hint="rows must have equal length",
            )
    return to_array(rows[0] if len(rows) == 1 else rows, "the table")


def _cells(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return line.split()
    import csv

    return [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]


def _is_heading(cells: list[str]) -> bool:
    def is_number(cell: str) -> bool:
        try:
            parse_number(cell)
        except InputError:
            return False
        return True

    words = [cell for cell in cells if cell and cell.lower() not in ("nan", "inf", "-nan", "-inf")]
    return bool(words) and all(cell[0].isalpha() or cell[0] == "_" for cell in words) and not any(map(is_number, words))


def _cell(cell: str, line: int, column: int, separator: str | None, finite: bool) -> Any:
    if not finite and cell.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return float(cell)
    try:
        return parse_number(cell)
    except InputError as unreadable:
        error = unreadable
        if not cell:
            error = InputError("the cell is empty", hint="every row needs a number in every column")
        elif separator == ";" and "," in cell:
            error = InputError(f"{cell!r} has a decimal comma", hint="write decimals with a point")
        raise error.located(f"line {line}, column {column}") from None
