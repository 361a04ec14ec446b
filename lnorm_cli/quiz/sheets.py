"""Worksheets and their keys: the same seed gives the same bytes."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from lnorm_cli import exact
from lnorm_cli.quiz.bank import Bank
from lnorm_cli.quiz.dice import Dice
from lnorm_cli.quiz.generators import generators
from lnorm_cli.quiz.latex import latex_sheet
from lnorm_cli.quiz.questions import Choice, Numbers, Order, Question, Recall, Run, letter
from lnorm_cli.quiz.session import in_turn
from lnorm_cli.quiz.steps import answer_text, reason, write_work, wrong_ways
from lnorm_cli.reading import exact_text
from lnorm_cli.render.markup import MarkdownWriter
from lnorm_cli.render.notation import NO_BREAK, UNICODE

SCHEMA = "lnorm/quiz/1"
SEEDS = 1000
"""Seeds of the questions on a sheet: short, because students copy the ids."""


@dataclass(frozen=True)
class Sheet:
    """Questions in order, and the seed that gives them again."""

    seed: int
    questions: tuple[Question, ...]


def make_sheet(bank: Bank, seed: int, count: int, topics: Sequence[str] = ()) -> Sheet:
    """`count` questions, every other one numeric while there are such, topics taking turns.

    Once all items were used, those that come with other numbers each time come again; where none does, the sheet is
    shorter than asked for.
    """
    dice = Dice("sheet", seed, *topics)
    questions: list[Question] = []
    ids: set[str] = set()
    numeric = generators()
    while len(questions) < count:
        before = len(questions)
        items = dice.shuffled([item for item in bank.of(topics) if not questions or item.key in numeric])
        halves = [[i for i in items if (i.key in numeric) is wanted] for wanted in (True, False)]
        mixed = [in_turn(half, dice, window=len(items)) for half in halves]
        for item in (item for pair in zip_longest(*mixed) for item in pair if item is not None):
            question = item.question(dice.below(SEEDS))
            if question.id not in ids and len(questions) < count:
                ids.add(question.id)
                questions.append(question)
        if len(questions) == before:
            break
    return Sheet(seed, tuple(questions))


def write_sheet(sheet: Sheet, format: str, *, key: bool) -> str:
    """The sheet, or its key, as Markdown, LaTeX or JSON."""
    if format == "json":
        return json.dumps(_document(sheet, key=key), indent=1) + "\n"
    return latex_sheet(sheet.seed, sheet.questions, key=key) if format == "latex" else _markdown(sheet, key=key)


def _markdown(sheet: Sheet, *, key: bool) -> str:
    lines = [f"# Layer normalization: {'key' if key else 'worksheet'} {sheet.seed}", ""]
    if not key:
        lines += ["Give answers exactly (fractions, roots) or as decimals with the places asked for.", ""]
    for number, question in enumerate(sheet.questions, start=1):
        lines += [f"## {number}. `{question.id}`", "", _escaped(question.prompt), ""]
        if question.given:
            width = max(len(name) for name, _ in question.given)
            lines += ["```text", *(f"{name.ljust(width)}  {value}" for name, value in question.given), "```", ""]
        shown = lettered(question)
        if isinstance(question.answer, Order):
            lines += ["```text", *(f"{letter(i)}) {text}" for i, text in enumerate(shown)), "```", ""]
        elif shown:
            lines += [*(f"- {letter(i)}) {_escaped(text)}" for i, text in enumerate(shown)), ""]
        if key:
            lines += _markdown_key(question)
        else:
            lines += [f"*Wanted: {_escaped(question.rule)}.*", "", "Answer:", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _markdown_key(question: Question) -> list[str]:
    lines = [f"**Answer:** {_escaped(answer_text(question, UNICODE))}", ""]
    if reason(question):
        lines += [_escaped(reason(question)), ""]
    stream = io.StringIO()
    write_work(question.work, MarkdownWriter(stream, UNICODE), lambda text: stream.write(f"\n{_escaped(text)}\n"))
    if stream.getvalue():
        lines += [stream.getvalue().strip("\n"), ""]
    listed = _joined(wrong_ways(question, UNICODE))
    if isinstance(question.answer, Recall):
        listed = list(question.answer.points)
    if listed:
        heading = "To be mentioned:" if isinstance(question.answer, Recall) else "Wrong ways:"
        lines += [heading, "", *(f"- {_escaped(line)}" for line in listed), ""]
    return [line.replace(NO_BREAK, " ") for line in lines]


def _joined(wrong: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{shown}{'' if shown.endswith(')') and len(shown) == 2 else ':'} {said}" for shown, said in wrong]


def lettered(question: Question) -> list[str]:
    """The texts that letters stand before."""
    answer = question.answer
    if isinstance(answer, Choice):
        return [option.text for option in answer.options]
    return list(answer.lines) if isinstance(answer, Order) else []


def _escaped(text: str) -> str:
    """Text in which Markdown finds no marks of its own."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>#|" else c for c in text)


def _document(sheet: Sheet, *, key: bool) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "kind": "key" if key else "worksheet",
        "seed": sheet.seed,
        "questions": [_entry(question, key=key) for question in sheet.questions],
    }


def _entry(question: Question, *, key: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "id": question.id,
        "topic": question.topic,
        "kind": question.kind,
        "prompt": question.prompt,
        "given": dict(question.given),
        "wanted": question.rule,
    }
    shown = lettered(question)
    if shown:
        entry["choices" if isinstance(question.answer, Choice) else "lines"] = {
            letter(i): text for i, text in enumerate(shown)
        }
    if key:
        entry["answer"] = _right(question)
        entry["steps"] = [_step_entry(part) if isinstance(part, Run) else part.text for part in question.work]
        if isinstance(question.answer, Recall):
            entry["points"] = list(question.answer.points)
        else:
            entry["wrong"] = _wrong_texts(question)
    return entry


def _wrong_texts(question: Question) -> list[str]:
    """The known wrong answers, exactly, with what they mean."""
    if isinstance(question.answer, Numbers):
        return _joined((", ".join(map(exact_text, w.value)), w.feedback) for w in question.answer.wrong)
    return _joined(wrong_ways(question, UNICODE))


def _right(question: Question) -> Any:
    answer = question.answer
    if isinstance(answer, Numbers):
        values = [{"exact": exact_text(v), "float": exact.to_float(v)} for v in answer.values]
        return values[0] if answer.single else values
    if isinstance(answer, Choice):
        return letter(answer.right)
    return answer_text(question, UNICODE)


def _step_entry(part: Run) -> dict[str, list[str]]:
    """The exact values of each step of one row."""
    entry = {}
    for step in part.trace:
        entry[step.name] = [exact_text(v) for v in step.value[part.row % len(step.value)]]
        if step.name == part.upto:
            break
    return entry
