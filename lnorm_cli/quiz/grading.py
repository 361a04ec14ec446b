"""Grading: an answer's text against a question. Nothing in the text is ever evaluated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from lnorm_cli import exact
from lnorm_cli.errors import InputError
from lnorm_cli.quiz.diagnosing import diagnosed
from lnorm_cli.quiz.formulas import SECONDS, compare, read_formula
from lnorm_cli.quiz.limit import OutOfTime, time_limit
from lnorm_cli.quiz.questions import Choice, Formula, Numbers, Order, Question, Wrong
from lnorm_cli.quiz.rounding import near
from lnorm_cli.quiz.rules import Rule, decimal
from lnorm_cli.quiz.typed import read_letter, read_list, read_order, read_single, right_side
from lnorm_cli.quiz.typeset import SPELLED, names_in
from lnorm_cli.reading import exact_text

Outcome = Literal["right", "rounded", "wrong", "short", "malformed", "undecided", "ungraded"]
"""`rounded` is right but for rounding on the way; `short` right as far as it goes, with too few digits."""

UNDECIDED = "This could not be decided in time, so it does not count. Is there a simpler form?"


@dataclass(frozen=True)
class Grade:
    """What became of an answer. `misconceptions` are fault ids, or what a wrong choice stands for.

    `short` are the places (from 1) of entries that are right as far as they go, with too few digits.
    """

    outcome: Outcome
    message: str = ""
    misconceptions: tuple[str, ...] = ()
    mark: Fraction = Fraction(0)
    error: InputError | None = None
    short: tuple[int, ...] = ()

    @property
    def good(self) -> bool:
        return self.outcome in ("right", "rounded")


def grade(question: Question, text: str) -> Grade:
    """Grade one answer. Malformed answers carry the InputError that says where; they are not wrong."""
    answer = question.answer
    try:
        if not text.strip():
            raise InputError("there is no answer here", hint=f"wanted: {question.rule}", text=text, position=0)
        if isinstance(answer, Numbers):
            with time_limit(SECONDS):
                return _numbers(answer, text)
        if isinstance(answer, Formula):
            return _formula(answer, text, question)
        if isinstance(answer, Choice):
            return _choice(answer, text, question.key)
        if isinstance(answer, Order):
            return _order(answer, text)
    except InputError as error:
        return Grade("malformed", error.what, error=error)
    except OutOfTime:
        return Grade("undecided", UNDECIDED)
    return Grade("ungraded")


def _numbers(answer: Numbers, text: str) -> Grade:
    if answer.single:
        values, texts = [read_single(text)], [text]
    else:
        values, texts = read_list(text, len(answer.values))
    scale = max((abs(exact.approximate(v)) for v in answer.values), default=Fraction(0)) or Fraction(1)
    verdicts = [
        _one(value, part, right, answer.rule, scale)
        for value, part, right in zip(values, texts, answer.values, strict=True)
    ]
    if all(v == "right" for v in verdicts):
        return Grade("right", _approximate(values, answer), mark=Fraction(1))
    rounding = _by_rounding(values, answer)
    if rounding is not None:
        return Grade("rounded", rounding, ("rounded-intermediate",), Fraction(1))
    if set(verdicts) <= {"right", "short"} and known_path(answer, values, texts, loose=False) is None:
        return _short(answer, verdicts)
    found = _wrong_numbers(answer, values, texts, verdicts)
    if "short" not in verdicts:
        return found
    if found.good:
        return _short(answer, verdicts)
    short = _places(verdicts, "short")
    if set(found.misconceptions) <= {"arithmetic-slip", "cut-not-rounded"}:
        found = replace(found, message=f"{found.message} {_too_few(short, answer)}")
    return replace(found, short=short)


def _short(answer: Numbers, verdicts: list[str]) -> Grade:
    """Nothing is wrong, but entries have too few digits: these are not credited, the others are."""
    places = _places(verdicts, "short")
    mark = Fraction(len(verdicts) - len(places), len(verdicts))
    if answer.single or len(places) == len(verdicts):
        return Grade("short", f"Right as far as it goes. Wanted: {answer.rule.text}.", mark=mark, short=places)
    return Grade("short", _too_few(places, answer), mark=mark, short=places)


def _places(verdicts: list[str], verdict: str) -> tuple[int, ...]:
    return tuple(place for place, found in enumerate(verdicts, start=1) if found == verdict)


def _too_few(places: Sequence[int], answer: Numbers) -> str:
    """Which entries are right as far as they go."""
    named = ", ".join(map(str, places))
    entries = f"Entry {named} is" if len(places) == 1 else f"Entries {named} are"
    return f"{entries} right as far as {'it goes' if len(places) == 1 else 'they go'}. Wanted: {answer.rule.text}."


def _one(value: exact.Exact, text: str, right: exact.Exact, rule: Rule, scale: Fraction) -> str:
    """One number: right, short, cut or wrong."""
    if exact.is_zero(_difference(value, right)):
        return "right"
    a, v = exact.approximate(value), Fraction(0) if exact.is_zero(right) else exact.approximate(right)
    if rule.accepts(a, v, scale):
        return "right"
    if rule.too_few(text, a, v):
        return "short"
    return "cut" if rule.cut(text, a, v) else "wrong"


def _difference(a: exact.Exact, b: exact.Exact) -> exact.Exact:
    """a - b, without the expansion of long sums that only a deliberate answer would need."""
    return exact.tidy(a - b)


def _approximate(values: Sequence[exact.Exact], answer: Numbers) -> str:
    """For right answers that are decimals of something longer: the exact value."""
    if all(value == right for value, right in zip(values, answer.values, strict=True)):
        return ""
    if all(exact.is_zero(_difference(v, r)) for v, r in zip(values, answer.values, strict=True)):
        return ""
    return "Rounded; exactly it is " + ", ".join(map(exact_text, answer.values)) + "."


def _by_rounding(values: Sequence[exact.Exact], answer: Numbers) -> str | None:
    """Why an answer is right but for rounding on the way; None where it is not."""
    rule, given = answer.rule, [exact.approximate(value) for value in values]
    exactly = [exact.approximate(value) for value in answer.values]
    for path in answer.by_rounding:
        off = [i for i, (a, v) in enumerate(zip(given, exactly, strict=True)) if not rule.accepts(a, v)]
        if off and all(rule.accepts(given[i], path[i]) for i in off):
            first = off[0]
            return (
                f"Right, but rounded on the way: rounding once, at the end, gives {decimal(exactly[first], rule)} "
                f"(exactly {exact_text(answer.values[first])})."
            )
    return None


def _wrong_numbers(answer: Numbers, values: list[exact.Exact], texts: list[str], verdicts: list[str]) -> Grade:
    right = sum(v == "right" for v in verdicts)
    mark = Fraction(right, len(verdicts))
    known = known_path(answer, values, texts)
    if known is not None:
        return Grade("wrong", known.feedback, (known.fault,), mark if right < len(verdicts) else Fraction(0))
    if set(verdicts) <= {"right", "cut", "short"}:
        return Grade("wrong", "Cut off instead of rounded: look at the next digit.", ("cut-not-rounded",), mark)
    if answer.single:
        return Grade("wrong", _sign(values[0], answer))
    found = diagnosed(answer.run, texts) if answer.run is not None else None
    given, exactly = ([exact.approximate(value) for value in some] for some in (values, answer.values))
    if found is not None and (found[2] < 1 or near(given, exactly, answer.rule)):
        message, faults, least = found
        return Grade("rounded" if least == 1 else "wrong", message, faults, max(mark, least))
    off = [i + 1 for i, v in enumerate(verdicts) if v not in ("right", "short")]
    named = ", ".join(map(str, off))
    if len(off) == len(verdicts):
        return Grade("wrong", "None of the entries is right.")
    kind = "Entry" if len(off) == 1 else "Entries"
    fault = ("arithmetic-slip",) if len(off) == 1 else ()
    return Grade(
        "wrong",
        f"{kind} {named} of {len(verdicts)} {'is' if len(off) == 1 else 'are'} not right.",
        fault,
        mark,
    )


def _sign(value: exact.Exact, answer: Numbers) -> str:
    a, v = exact.approximate(value), exact.approximate(answer.values[0])
    return "Right but for the sign." if v and answer.rule.accepts(-a, v) else ""


def known_path(
    answer: Numbers, values: Sequence[exact.Exact], texts: Sequence[str], *, loose: bool = True
) -> Wrong | None:
    """The listed wrong path that gives these values, at the digits asked or (`loose`) at those typed."""
    for fewer in (False, True) if loose else (False,):
        for path in answer.wrong:
            if len(path.value) == len(values) and all(
                _matches(v, t, w, answer.rule, fewer) for v, t, w in zip(values, texts, path.value, strict=True)
            ):
                return path
    return None


def _matches(value: exact.Exact, text: str, path: exact.Exact, rule: Rule, fewer: bool) -> bool:
    if value == path or exact.is_zero(_difference(value, path)):
        return True
    a, v = exact.approximate(value), Fraction(0) if exact.is_zero(path) else exact.approximate(path)
    own = rule if rule.figures or rule.decimals is not None else replace(rule, figures=4, tolerance=None)
    return own.accepts(a, v) or (fewer and own.too_few(text, a, v))


def _formula(answer: Formula, text: str, question: Question) -> Grade:
    with time_limit(SECONDS):
        given = read_formula(right_side(text), answer.names)
    verdict = compare(given, read_formula(answer.text, answer.names))
    if verdict == "equal":
        return Grade("right", mark=Fraction(1))
    if verdict == "undecided":
        return Grade("undecided", UNDECIDED)
    for wrong in answer.wrong:
        if compare(given, read_formula(wrong.text, answer.names)) == "equal":
            return Grade("wrong", wrong.feedback, (f"{question.key}: {wrong.text}",))
    _refuse_other_names(answer, given, text, question.rule)
    return Grade("wrong")


def _refuse_other_names(answer: Formula, given: Any, text: str, wanted: str) -> None:
    """An answer in names that were not asked for may be right in its own way, so it is not called wrong."""
    asked = {*answer.named, *names_in(answer.text)}
    used = {str(symbol) for symbol in getattr(given, "free_symbols", ())}
    if asked and used - asked:
        name = min(used - asked)
        forms = "|".join([rf"\b{name}\b", *(c for c, spelled in SPELLED.items() if spelled == name)])
        place = re.search(forms, text)
        hint = f"wanted: {wanted}"
        raise InputError(f"{name} is not used here", hint=hint, text=text, position=place.start() if place else 0)


def _choice(answer: Choice, text: str, key: str) -> Grade:
    place = read_letter(text.strip(), len(answer.options), text)
    option = answer.options[place]
    if option.right:
        return Grade("right", option.feedback, mark=Fraction(1))
    return Grade("wrong", option.feedback, (option.misconception or f"{key}: {option.text}",))


def _order(answer: Order, text: str) -> Grade:
    places = read_order(text, len(answer.lines))
    if places == answer.right:
        return Grade("right", answer.why, mark=Fraction(1))
    first = next(i for i, (a, b) in enumerate(zip(places, answer.right, strict=True)) if a != b)
    stands = f"Right up to line {first}; line {first + 1} is another one." if first else "Another line comes first."
    return Grade("wrong", stands)
