"""A question as it is asked: its prompt, what is right, the known wrong answers, and the worked steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from lnorm_cli.exact import Exact
from lnorm_cli.norm import Trace
from lnorm_cli.quiz.rules import Rule

KINDS = ("number", "vector", "formula", "choice", "order", "spot", "recall")


@dataclass(frozen=True)
class Wrong:
    """A known wrong answer: the fault that leads there, and what to say about it."""

    value: tuple[Exact, ...]
    fault: str
    feedback: str = ""


@dataclass(frozen=True)
class Numbers:
    """One number or a vector: the exact values, and the values that honest rounding on the way gives."""

    values: tuple[Exact, ...]
    rule: Rule
    wrong: tuple[Wrong, ...] = ()
    by_rounding: tuple[tuple[Fraction, ...], ...] = ()
    single: bool = True
    run: Trace | None = None
    """The trace whose output these values are, where they are a whole output: the data for a diagnosis."""


@dataclass(frozen=True)
class WrongFormula:
    text: str
    feedback: str


@dataclass(frozen=True)
class Formula:
    """A formula in the grammar, the names that it may use, and those of them that an answer may need."""

    text: str
    names: tuple[str, ...]
    wrong: tuple[WrongFormula, ...] = ()
    named: tuple[str, ...] = ()


@dataclass(frozen=True)
class Option:
    """One choice; `misconception` names what a wrong one stands for."""

    text: str
    right: bool
    feedback: str
    misconception: str = ""


@dataclass(frozen=True)
class Choice:
    """Options in the order in which they are shown."""

    options: tuple[Option, ...]

    @property
    def right(self) -> int:
        return next(place for place, option in enumerate(self.options) if option.right)


@dataclass(frozen=True)
class Order:
    """Lines as they are shown, and the places (from 0) that put them right."""

    lines: tuple[str, ...]
    right: tuple[int, ...]
    why: str


@dataclass(frozen=True)
class Recall:
    """Free text: a model answer, and what a full one mentions."""

    model: str
    points: tuple[str, ...]


Answer: TypeAlias = "Numbers | Formula | Choice | Order | Recall"


@dataclass(frozen=True)
class Run:
    """Worked steps: those of a trace, up to the step named; `row` picks one set of statistics.

    `before` is the forward trace that a backward one refers to.
    """

    trace: Trace
    upto: str
    heading: str = ""
    row: int = 0
    before: Trace | None = None


@dataclass(frozen=True)
class Said:
    """Worked steps: a line of text."""

    text: str


Work: TypeAlias = "Run | Said"


@dataclass(frozen=True)
class Question:
    """One question.

    `id` names it for a marked sheet and carries the seed where there is one; `key` names the item for the
    schedule. `given` are lines of data below the prompt, each a name and its value.
    """

    id: str
    key: str
    topic: str
    kind: str
    prompt: str
    hints: tuple[str, ...]
    answer: Answer
    explain: str = ""
    source: str = ""
    given: tuple[tuple[str, str], ...] = ()
    work: tuple[Work, ...] = field(default=())

    @property
    def rule(self) -> str:
        """What form the answer takes, in a few words."""
        answer = self.answer
        if isinstance(answer, Numbers):
            exactly = answer.rule == Rule()
            if answer.single:
                return "the exact value" if exactly else answer.rule.text
            return f"{len(answer.values)} numbers, {answer.rule.text}" + ("" if exactly else " each")
        if isinstance(answer, Formula):
            return "a formula in " + ", ".join(answer.named) if answer.named else "a formula"
        if isinstance(answer, Choice):
            return f"a letter, a to {letter(len(answer.options) - 1)}"
        if isinstance(answer, Order):
            return "the letters in order, such as " + "".join(letter(i) for i in reversed(range(len(answer.lines))))
        return "in your own words, one line"


def letter(place: int) -> str:
    """The letter of a choice or line."""
    return chr(ord("a") + place)
