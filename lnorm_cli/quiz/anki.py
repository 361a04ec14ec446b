"""Cards for Anki's text import: one note a line, fields separated by tabs, HTML in them."""

from __future__ import annotations

import html
from collections.abc import Iterable

from lnorm_cli.quiz.questions import Choice, Order, Question, Recall, letter
from lnorm_cli.quiz.sheets import lettered
from lnorm_cli.quiz.steps import answer_text
from lnorm_cli.render.notation import UNICODE

HEADERS = ("#separator:tab", "#html:true", "#notetype:Basic", "#deck:lnorm", "#guid column:1", "#tags column:4")


def anki_cards(questions: Iterable[Question]) -> str:
    """The file: headers, then guid, front, back and tags of every question."""
    lines = [*HEADERS]
    for question in questions:
        fields = (f"lnorm-{question.id}", _front(question), _back(question), f"lnorm lnorm::{question.topic}")
        lines.append("\t".join(_field(field) for field in fields))
    return "\n".join(lines) + "\n"


def _front(question: Question) -> str:
    parts = [_text(question.prompt)]
    parts += [f"{_text(name)}: {_text(value)}" for name, value in question.given]
    parts += [f"{letter(i)}) {_text(text)}" for i, text in enumerate(lettered(question))]
    if not isinstance(question.answer, Recall):
        parts.append(f"<i>{_text(question.rule)}</i>")
    return "<br>".join(parts)


def _back(question: Question) -> str:
    answer = question.answer
    parts = [_text(answer_text(question, UNICODE))]
    if isinstance(answer, Choice):
        parts += [_text(answer.options[answer.right].feedback)]
    if isinstance(answer, Order):
        parts += [f"<code>{_text(answer.lines[place])}</code>" for place in answer.right] + [_text(answer.why)]
    if isinstance(answer, Recall):
        parts += [f"- {_text(point)}" for point in answer.points]
    return "<br>".join(part for part in parts if part)


def _text(text: str) -> str:
    """Text as HTML: nothing of it is markup."""
    return "<br>".join(html.escape(line, quote=True) for line in text.splitlines())


def _field(text: str) -> str:
    """A field without tabs, line ends or a first # that would make the line a comment."""
    flat = text.replace("\t", " ").replace("\r", " ").replace("\n", " ")
    return "&#35;" + flat[1:] if flat.startswith("#") else flat
