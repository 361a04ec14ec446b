"""Items from TOML files: the project's own, and a teacher's pack. Errors name file, line and item."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lnorm_cli.errors import InputError, ProblemsError
from lnorm_cli.explain.topics import find
from lnorm_cli.faults.catalogue import catalogue
from lnorm_cli.norm import NORMS
from lnorm_cli.quiz.concepts import Concept
from lnorm_cli.quiz.formulas import NAMES
from lnorm_cli.quiz.questions import KINDS
from lnorm_cli.quiz.textfile import read_text
from lnorm_cli.reading import parse_number, parse_vector
from lnorm_cli.render.terminal import visible

DATA = Path(__file__).resolve().parent.parent / "data" / "items"
MAX_BYTES = 2_000_000
MOST_DIGITS = 99
SHOWN = 8
"""Of many problems in a pack, this many are printed."""

_TEXT, _LIST, _TABLE, _WHOLE = (str,), (list,), (dict,), (int,)
_COMMON: dict[str, tuple[type, ...]] = {"id": _TEXT, "kind": _TEXT, "prompt": _TEXT}
_OPTIONAL: dict[str, tuple[type, ...]] = {
    "topic": _TEXT, "covers": _LIST, "hints": _LIST, "source": _TEXT, "explain": _TEXT,
}  # fmt: skip
_NUMERIC: dict[str, tuple[type, ...]] = {
    "compute": _TABLE,
    "answer": _TEXT,
    "precision": _TEXT,
    "wrong": _LIST,
}
_KIND: dict[str, tuple[dict[str, tuple[type, ...]], dict[str, tuple[type, ...]]]] = {
    "choice": ({"choices": _LIST}, {}),
    "order": ({"lines": _LIST}, {"why": _TEXT}),
    "recall": ({"model": _TEXT}, {"points": _LIST}),
    "formula": ({"answer": _TEXT}, {"names": _LIST, "wrong": _LIST}),
    "number": ({}, _NUMERIC),
    "vector": ({}, _NUMERIC),
    "spot": (
        {"x": _TEXT, "fault": _TEXT, "others": _LIST},
        {"gamma": _TEXT, "beta": _TEXT, "eps": _TEXT, "digits": _WHOLE, "norm": _TEXT},
    ),
}
_TEXTS = ("hints", "lines", "others", "points", "names", "covers")
_STEPS = ("mean", "variance", "standard_deviation", "mean_square", "root_mean_square", "normalized", "output")


@dataclass(frozen=True)
class Problem:
    """Something wrong with an item: where, and what."""

    file: str
    line: int
    item: str
    what: str

    @property
    def text(self) -> str:
        return f"{visible(self.file)}, line {self.line}, item {self.item!r}: {self.what}"


@dataclass
class _Entry:
    """A raw item and the lines that its keys stand on."""

    data: dict[str, Any]
    line: int
    keys: dict[str, int] = field(default_factory=dict)


def own_items() -> tuple[Concept, ...]:
    """The project's concept items, topic by topic; that they are valid is a test's matter."""
    return tuple(Concept(entry.data) for path in sorted(DATA.glob("*.toml")) for entry in _entries(path))


def read_pack(path: Path, taken: Iterable[str] = ()) -> tuple[Concept, ...]:
    """The items of a file, all of them valid; else one InputError that lists the problems.

    `taken` are ids that may not be used again.
    """
    name = str(path)
    problems: list[Problem] = []
    entries = _entries(path)
    ids = set(taken)
    for entry in entries:
        label = str(entry.data.get("id", "?"))
        for key, what in _problems(entry.data):
            problems.append(Problem(name, entry.keys.get(key, entry.line), label, what))
        if label in ids:
            problems.append(Problem(name, entry.keys.get("id", entry.line), label, "this id is used already"))
        ids.add(label)
    if problems:
        listed = "\n".join(problem.text for problem in problems[:SHOWN])
        more = f"\nand {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        raise ProblemsError(listed + more, hint="mend these lines of the pack")
    return tuple(Concept(entry.data) for entry in entries)


def _entries(path: Path) -> list[_Entry]:
    text = read_text(path, MAX_BYTES)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        where = f", line {found.group(1)}" if found else ""
        what = re.sub(r" \(at .*\)", "", str(error))
        raise InputError(f"{path}{where}: not TOML: {what}", hint="strings stand in quotes, lists in [ ]") from None
    except RecursionError:
        raise InputError(f"{path}: nested too deeply", hint="an item is a flat table") from None
    items = document.get("item")
    unknown = [key for key in document if key != "item"]
    if unknown or not isinstance(items, list) or not items or not all(isinstance(i, dict) for i in items):
        what = f"unknown field {unknown[0]!r}" if unknown else "holds no [[item]]"
        raise InputError(f"{path}, line 1: {what}", hint="a pack is a list of [[item]] tables")
    lines = _lines(text, len(items))
    return [_Entry(data, *place) for data, place in zip(items, lines, strict=True)]


def _lines(text: str, count: int) -> list[tuple[int, dict[str, int]]]:
    """Where each item starts and where its keys stand; line 1 for all where the text is too unusual to tell."""
    found: list[tuple[int, dict[str, int]]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if re.match(r"\s*\[\[\s*item\s*\]\]", line):
            found.append((number, {}))
        elif found and (key := re.match(r"\s*([A-Za-z_-]+)\s*=", line)):
            found[-1][1].setdefault(key.group(1), number)
    return found if len(found) == count else [(1, {})] * count


def _problems(item: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(key, what is wrong) of one item."""
    kind = item.get("kind")
    if kind not in KINDS:
        yield "kind", f"kind is {kind!r}, not one of {', '.join(KINDS)}"
        return
    needed, optional = _KIND[kind]
    known = {**_COMMON, **_OPTIONAL, **needed, **optional}
    bad = False
    for key in {**_COMMON, **needed}:
        if key not in item:
            bad = True
            yield key, f"{key} is missing"
    for key, value in item.items():
        if key not in known:
            bad = True
            yield key, f"unknown field {key!r}"
        elif not isinstance(value, known[key]) or isinstance(value, bool):
            bad = True
            yield key, f"{key} is not {_wanted(known[key])}"
        elif value in ("", []) and key not in ("covers", "hints"):
            bad = True
            yield key, f"{key} is empty"
        elif (
            isinstance(value, list)
            and key in _TEXTS
            and not all(isinstance(entry, str) and entry.strip() for entry in value)
        ):
            bad = True
            yield key, f"{key} must hold texts, none of them empty"
    if not bad:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", item["id"]):
            yield "id", "an id is made of letters, digits, - and _"
        yield from _check_explain(item)
        inner = list(_check_tables(item))
        yield from inner or _CHECKS.get(kind, _nothing)(item)


def _check_explain(item: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "explain" in item:
        try:
            find(item["explain"])
        except InputError as error:
            yield "explain", f"explain: {error.what}; {error.hint}"


def _check_tables(item: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What stands in the tables of an item: texts, but for the index of a number."""
    for entry in item.get("wrong", ()):
        if not isinstance(entry, dict) or "answer" not in entry or not _are_texts(entry.values()):
            yield "wrong", 'a wrong answer is written {answer = "...", feedback = "..."}'
            return
    compute = item.get("compute", {})
    if not _are_texts(value for key, value in compute.items() if key != "index" or type(value) is not int):
        yield "compute", "compute holds texts, and index a whole number"


def _are_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _wanted(types: tuple[type, ...]) -> str:
    return {str: "a text", list: "a list", dict: "a table", int: "a whole number"}[types[0]]


def _nothing(item: dict[str, Any]) -> Iterator[tuple[str, str]]:
    return iter(())


def _check_choice(item: dict[str, Any]) -> Iterator[tuple[str, str]]:
    choices = item["choices"]
    if not all(isinstance(c, dict) and isinstance(c.get("text"), str) and c["text"].strip() for c in choices):
        yield "choices", "every choice needs a text"
        return
    rights = [choice for choice in choices if choice.get("right") is True]
    if len(rights) != 1:
        yield "choices", f"exactly one choice must be right, here {len(rights)} are"
    if not 2 <= len(choices) <= 10:
        yield "choices", "from 2 to 10 choices"
    if len({choice["text"] for choice in choices}) < len(choices):
        yield "choices", "two choices are the same"
    for choice in choices:
        unknown = set(choice) - {"text", "right", "feedback"}
        if unknown:
            yield "choices", f"unknown field {sorted(unknown)[0]!r} of a choice"
        elif not isinstance(choice.get("feedback", ""), str):
            yield "choices", "feedback is a text"


def _check_order(item: dict[str, Any]) -> Iterator[tuple[str, str]]:
    lines = item["lines"]
    if not 2 <= len(lines) <= 12 or len(set(lines)) < len(lines):
        yield "lines", "from 2 to 12 lines, all different"


def _check_formula(item: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name in item.get("names", ()):
        if not re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", name) or name in ("sqrt", "abs", "Abs", "pi"):
            yield "names", f"{name!r} is a function, or no name"
            return
    if item["answer"].strip().lower() in ("h", "s", "q"):
        yield "answer", f"{item['answer']!r} alone is a command of the quiz: use another letter"
    names = (*NAMES, *item.get("names", ()))
    for key, text in [
        ("answer", item["answer"]),
        *(("wrong", w.get("answer")) for w in item.get("wrong", ())),
    ]:
        try:
            parse_number(str(text), names=names)
        except InputError as error:
            yield key, f"{text!r}: {error.what}"


def _check_numbers(item: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if ("compute" in item) == ("answer" in item):
        yield "kind", "either compute or answer says what is right"
        return
    precision = item.get("precision", "4 figures")
    if not re.fullmatch(r"exact|[1-9][0-9]? (figures?|decimals?)|within \S+", precision):
        yield "precision", f"precision {precision!r} is none of: exact, 4 figures, 3 decimals, within 0.01"
        return
    try:
        question = Concept(item).question(0)
    except InputError as error:
        yield ("compute" if "compute" in item else "answer"), error.what
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        yield "compute", f"compute needs x, step (one of {', '.join(_STEPS)}) and, for one number of several, index"
    else:
        assert hasattr(question.answer, "values")


def _check_spot(item: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, fault in [("fault", item["fault"]), *(("others", other) for other in item["others"])]:
        if fault not in catalogue():
            yield key, f"unknown fault {fault!r}"
            return
    for key in ("x", "gamma", "beta"):
        try:
            parse_vector(item.get(key, "1"))
        except InputError as error:
            yield key, error.what
            return
    if item.get("norm", "layer") not in NORMS:
        yield "norm", f"norm is {item['norm']!r}, not one of {', '.join(NORMS)}"
        return
    if not 1 <= item.get("digits", 4) <= MOST_DIGITS:
        yield "digits", f"digits is {item['digits']}, not from 1 to {MOST_DIGITS}"
        return
    try:
        Concept(item).question(0)
    except InputError as error:
        yield "fault", error.what


_CHECKS = {
    "choice": _check_choice,
    "order": _check_order,
    "formula": _check_formula,
    "number": _check_numbers,
    "vector": _check_numbers,
    "spot": _check_spot,
}
