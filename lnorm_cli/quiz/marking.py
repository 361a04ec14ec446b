"""Marking many students' answers: who got what, and which misconceptions are most frequent."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from lnorm_cli.errors import InputError
from lnorm_cli.faults.catalogue import catalogue
from lnorm_cli.quiz.bank import Bank
from lnorm_cli.quiz.grading import Grade, grade
from lnorm_cli.quiz.questions import Question
from lnorm_cli.quiz.textfile import read_text

COLUMNS = ("student", "item", "answer")
MAX_BYTES = 50_000_000


@dataclass(frozen=True)
class Given:
    """One answer of one student, and where it stands."""

    student: str
    item: str
    answer: str
    place: str


@dataclass(frozen=True)
class Marked:
    """An answer with its grade; `by_hand` where a person has to look."""

    given: Given
    grade: Grade
    by_hand: bool


@dataclass(frozen=True)
class Result:
    """The marks of one student: right answers (parts of a vector count in part) out of all items of the file."""

    student: str
    mark: Fraction
    of: int

    @property
    def percent(self) -> Fraction:
        return self.mark * 100 / self.of if self.of else Fraction(0)


@dataclass(frozen=True)
class Report:
    """Everything that marking found."""

    results: tuple[Result, ...]
    misconceptions: tuple[tuple[str, int], ...]
    marked: tuple[Marked, ...]


def mark(bank: Bank, answers: Sequence[Given]) -> Report:
    """Mark every answer; of two answers of one student to one item the later counts."""
    questions: dict[str, Question] = {}
    for given in answers:
        if given.item not in questions:
            try:
                questions[given.item] = bank.question(given.item)
            except InputError as error:
                raise error.located(given.place) from None
    latest = {(given.student, given.item): given for given in answers}
    marked = [_marked(questions[given.item], given) for given in latest.values()]
    counted = {item for item, question in questions.items() if question.kind != "recall"}
    marks: dict[str, Fraction] = {given.student: Fraction(0) for given in answers}
    found: Counter[str] = Counter()
    for entry in marked:
        if entry.given.item in counted:
            marks[entry.given.student] += entry.grade.mark
        found.update(m for m in entry.grade.misconceptions if entry.grade.outcome == "wrong")
    results = tuple(Result(student, value, len(counted)) for student, value in marks.items())
    frequent = tuple(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))
    return Report(results, frequent, tuple(marked))


def _marked(question: Question, given: Given) -> Marked:
    if not given.answer.strip():
        return Marked(given, Grade("malformed", "no answer"), by_hand=False)
    verdict = grade(question, given.answer)
    return Marked(given, verdict, bool(verdict.short) or verdict.outcome in ("malformed", "undecided", "ungraded"))


def meaning(misconception: str) -> str:
    """A sentence for a fault's id; other misconceptions speak for themselves."""
    return catalogue()[misconception].happened if misconception in catalogue() else ""


def read_answers(source: str) -> list[Given]:
    """Answers from a csv or json file; InputError names the file and the line."""
    path, text = Path(source), read_text(source, MAX_BYTES)
    is_json = path.suffix.lower() == ".json" or text.lstrip()[:1] in ("[", "{")
    found = list(_from_json(text, source) if is_json else _from_csv(text, source))
    if not found:
        raise InputError(f"{source}: holds no answers", hint="columns: student,item,answer")
    return found


def _from_csv(text: str, source: str) -> Iterator[Given]:
    head = text.partition("\n")[0]
    separator = max(",;\t", key=head.count)
    rows = csv.reader(io.StringIO(text), delimiter=separator)
    names: list[str] | None = None
    try:
        for row in rows:
            place = f"{source}, line {rows.line_num}"
            if not any(cell.strip() for cell in row):
                continue
            if names is None:
                names = [cell.strip().lower() for cell in row]
                if set(COLUMNS) - set(names):
                    missing = ", ".join(c for c in COLUMNS if c not in names)
                    raise InputError(f"{place}: no column {missing}", hint="the first line is: student,item,answer")
                continue
            if len(row) > len(names) and names[-1] == "answer":
                row = [*row[: len(names) - 1], separator.join(row[len(names) - 1 :])]
            if len(row) != len(names):
                raise InputError(
                    f"{place}: {len(row)} cells, the first line has {len(names)}",
                    hint="an answer with commas stands in quotes",
                )
            cells = dict(zip(names, row, strict=True))
            yield Given(cells["student"].strip(), cells["item"].strip(), cells["answer"], place)
    except csv.Error as error:
        raise InputError(f"{source}, line {rows.line_num}: {error}", hint="check the quotes") from None


def _from_json(text: str, source: str) -> Iterator[Given]:
    try:
        document = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except (json.JSONDecodeError, RecursionError) as error:
        where = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(
            f"{source}{where}: is not JSON", hint='[{"student": "Ada", "item": "...", "answer": "2"}]'
        ) from None
    entries = document.get("answers") if isinstance(document, dict) else document
    if not isinstance(entries, list):
        raise InputError(f"{source}: is no list of answers", hint='[{"student": "Ada", "item": "...", "answer": "2"}]')
    for number, entry in enumerate(entries, start=1):
        place = f"{source}, answer {number}"
        if not isinstance(entry, dict) or set(COLUMNS) - set(entry):
            raise InputError(f"{place}: needs student, item and answer", hint="one object an answer")
        yield Given(str(entry["student"]).strip(), str(entry["item"]).strip(), _flat(entry["answer"]), place)


def _flat(value: Any) -> str:
    """An answer as text: a list of numbers becomes one line."""
    if isinstance(value, list):
        return ", ".join(map(_flat, value))
    return "" if value is None else str(value)
