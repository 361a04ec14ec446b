"""Worked steps, written with the same primitives and notation as `lnorm compute`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from lnorm_cli import exact
from lnorm_cli.norm import Step
from lnorm_cli.quiz.questions import Choice, Formula, Numbers, Order, Question, Recall, Run, Work, letter
from lnorm_cli.quiz.rules import Rule, decimal, magnitude, plain
from lnorm_cli.quiz.typeset import formula_text
from lnorm_cli.render.notation import ASCII, Notation
from lnorm_cli.render.writer import Writer

DIGITS = 6
FIGURES = 4
"""Figures of decimals in the steps, and of an answer's where no precision was asked for."""


def write_work(work: Sequence[Work], out: Writer, say: Callable[[str], object]) -> None:
    """The steps of a question; `say` writes a line of text in the writer's format."""
    number = 0
    for part in work:
        if not isinstance(part, Run):
            say(part.text)
            continue
        if part.heading:
            say(part.heading[0].upper() + part.heading[1:] + ":")
            number = 0
        for step in _until(part):
            number += 1
            formula, lines = written(part, step, out.notation)
            out.step(number, step.name.replace("_", " "), formula, lines)


def _until(part: Run) -> list[Step]:
    """The steps up to the last one wanted, without those that change nothing here."""
    kept = []
    for step in part.trace:
        if step.operation != "given" and not _idle(part, step):
            kept.append(step)
        if step.name == part.upto:
            break
    return kept


def _idle(part: Run, step: Step) -> bool:
    """Whether a step adds an epsilon or beta of 0, or multiplies by a gamma of 1."""
    neutral = {"epsilon": 0, "beta": 0, "gamma": 1}
    if step.name == part.upto:
        return False
    return any(
        name in part.trace.parameters and all(v == neutral[name] for v in part.trace.value(name).flat)
        for name in step.operands
        if name in neutral
    )


def written(part: Run, step: Step, notation: Notation) -> tuple[str, list[tuple[str, str]]]:
    """A step's formula, and its lines: the numbers put in, the exact value, the decimals where they differ."""
    values = step.value[part.row % len(step.value)]
    n = part.trace.layout.n
    operands = [[notation.exact(v) for v in _operand(part, name)] for name in step.operands]
    shown = list(range(n if len(values) > 1 or len(operands[0]) > 1 else 1))
    symbol, formula = notation.symbol(step.name), notation.formula(step)
    left = formula if symbol == formula else f"{symbol} = {formula}"
    lines = [("=", notation.substituted(step, operands, n, shown))]
    lines.append(("=", notation.listed([notation.exact(v) for v in values])))
    if any(exact.approximate(v).denominator > 1 for v in values):
        lines.append(decimals(values, notation, DIGITS))
    return left, [line for i, line in enumerate(lines) if i == 0 or line[1] != lines[i - 1][1]]


def decimals(values: Sequence[exact.Exact], notation: Notation, digits: int) -> tuple[str, str]:
    """Values as decimals of so many figures, and whether they equal the values or only come near."""
    texts = [notation.decimal(v, digits) for v in values]
    same = all(Fraction(ASCII.decimal(v, digits)) == v for v in values)
    return ("=" if same else notation.about), notation.listed(texts)


def _operand(part: Run, name: str) -> Sequence[exact.Exact]:
    """The values of an operand in this row; a backward trace refers to steps of its forward one."""
    for run in (part.trace, part.before):
        if run is not None and (name in run or name in run.parameters):
            values = run.value(name)
            return tuple(values[part.row % len(values)])
    raise KeyError(name)


def answer_text(question: Question, notation: Notation) -> str:
    """What is right, in one line; numbers and formulas in the notation, all else plain."""
    answer = question.answer
    if isinstance(answer, Numbers):
        return numbers_text(answer.values, answer.rule, notation)
    if isinstance(answer, Formula):
        return formula_text(answer.text, notation)
    if isinstance(answer, Choice):
        return f"{letter(answer.right)}) {answer.options[answer.right].text}"
    if isinstance(answer, Order):
        return "".join(letter(place) for place in answer.right)
    assert isinstance(answer, Recall)
    return answer.model


def numbers_text(values: Sequence[exact.Exact], rule: Rule, notation: Notation) -> str:
    """Values exactly and, where they are not whole, as decimals at the precision asked for."""

    def listed(texts: Iterable[str]) -> str:
        return notation.listed([notation.inline(text) for text in texts])

    exactly = listed(notation.exact(value) for value in values)
    if all(isinstance(value, Fraction) and value.denominator == 1 for value in values):
        return exactly
    written = [_asked(value, rule) for value in values]
    same = all(Fraction(text) == value for text, value in zip(written, values, strict=True))
    return f"{exactly} {'=' if same else notation.inline(notation.about)} {listed(written)}"


def _asked(value: exact.Exact, rule: Rule) -> str:
    """A decimal as the rule asks for it; zeros at its end only where it was rounded."""
    if rule.tolerance is not None:
        rule = Rule(decimals=max(0, -magnitude(rule.tolerance)) + 1)
    elif rule == Rule():
        rule = Rule(figures=FIGURES)
    number = exact.approximate(value)
    written = decimal(number, rule)
    return plain(number) if Fraction(written) == value else written


def wrong_ways(question: Question, notation: Notation) -> list[tuple[str, str]]:
    """The known wrong answers, in the notation of the right one, each with what it means."""
    answer = question.answer
    if isinstance(answer, Numbers):
        return [(numbers_text(w.value, answer.rule, notation), w.feedback) for w in answer.wrong]
    if isinstance(answer, Formula):
        return [(formula_text(w.text, notation), w.feedback) for w in answer.wrong]
    if isinstance(answer, Choice):
        return [(f"{letter(i)})", o.feedback) for i, o in enumerate(answer.options) if not o.right and o.feedback]
    return []


def reason(question: Question) -> str:
    """Why a choice or an order is right, where the item says so."""
    answer = question.answer
    if isinstance(answer, Choice):
        return answer.options[answer.right].feedback
    return answer.why if isinstance(answer, Order) else ""
