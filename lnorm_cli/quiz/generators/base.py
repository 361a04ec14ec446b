"""What every generator shares: drafts, the check that makes a draft a question, and rows pleasant by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from lnorm_cli import exact
from lnorm_cli.arithmetic import Exact as ExactArithmetic
from lnorm_cli.errors import InputError
from lnorm_cli.norm import LAYER, Spec, Trace, trace
from lnorm_cli.quiz.dice import Dice
from lnorm_cli.quiz.paths import attempted, distinct, other_steps, picked, shown, values_at, wrong_paths
from lnorm_cli.quiz.questions import Choice, Numbers, Question, Run, Work, Wrong
from lnorm_cli.quiz.rounding import by_rounding
from lnorm_cli.quiz.rules import Rule

FIGURES = Rule(figures=4)
WHOLE = Rule()
ATTEMPTS = 400
"""Draws before a generator gives up; none needs more than a few dozen (a test holds it)."""

PATTERNS: dict[int, tuple[tuple[int, ...], ...]] = {
    4: ((-5, 1, 1, 3), (-3, -1, -1, 5), (-1, -1, 1, 1), (-7, -1, 1, 7)),
    5: ((-3, -1, 0, 1, 3), (-1, -1, -1, -1, 4), (-4, 1, 1, 1, 1), (-6, -3, 1, 3, 5)),
    6: ((-3, -2, 0, 1, 1, 3), (-2, -1, -1, -1, 1, 4), (-3, -1, -1, 0, 2, 3), (-1, -1, 0, 0, 0, 2)),
}
"""Deviations whose sum is 0 and whose mean square is a perfect square."""

ROOTS: dict[int, tuple[tuple[int, ...], ...]] = {
    2: ((1, 7),),
    3: ((1, 1, 5), (1, 5, 7)),
    4: ((1, 1, 3, 5), (1, 1, 7, 7), (1, 3, 3, 9), (1, 5, 5, 7), (2, 4, 4, 8), (3, 5, 9, 9)),
}
"""Rows whose mean square is a perfect square."""


@dataclass(frozen=True)
class Draft:
    """A question before it is checked."""

    prompt: str
    given: tuple[tuple[str, str], ...]
    answer: Numbers | Choice
    hints: tuple[str, ...]
    work: tuple[Work, ...]


@dataclass(frozen=True)
class Generator:
    """Makes questions of one kind; `covers` are rows of the curriculum."""

    name: str
    topic: str
    kind: str
    covers: tuple[str, ...]
    make: Callable[[Dice], Draft]
    source: str = "ba2016"

    @property
    def key(self) -> str:
        return self.name

    def question(self, seed: int) -> Question:
        """The question of a seed: the first draft whose wrong answers can all be told apart."""
        for attempt in range(ATTEMPTS):
            try:
                draft = self.make(Dice(self.name, seed, attempt))
            except InputError:
                continue
            if sound(draft):
                return Question(
                    id=f"{self.name}:{seed}",
                    key=self.name,
                    topic=self.topic,
                    kind=self.kind,
                    prompt=draft.prompt,
                    hints=draft.hints,
                    answer=draft.answer,
                    explain=self.topic,
                    source=self.source,
                    given=draft.given,
                    work=draft.work,
                )
        raise AssertionError(f"generator {self.name} found no question for seed {seed}")


def sound(draft: Draft) -> bool:
    """Whether every wrong answer differs from the right one and from every other at the precision asked."""
    answer = draft.answer
    if isinstance(answer, Choice):
        return True
    kept = distinct(answer.values, answer.wrong, answer.rule)
    rounding = {shown(values, answer.rule) for values in answer.by_rounding}
    return len(kept) == len(answer.wrong) and not any(shown(w.value, answer.rule) in rounding for w in kept)


def row(dice: Dice, sizes: Sequence[int] = (4, 5), *, largest: int = 12, scales: Sequence[int] = (1, 2)) -> list[int]:
    """A row of small whole numbers with a whole mean, not 0, and a whole standard deviation."""
    deviations = dice.pick(PATTERNS[dice.pick(sizes)])
    scale = dice.pick(scales) * dice.pick((1, -1))
    mean = dice.between(1, 9)
    values = [mean + scale * deviation for deviation in dice.shuffled(deviations)]
    if max(map(abs, values)) > largest:
        raise InputError("too large for a pleasant row")
    return values


def any_row(dice: Dice, sizes: Sequence[int] = (3, 4), largest: int = 9) -> list[int]:
    """A row of small whole numbers, with no promise about its root."""
    values = [dice.between(-2, largest) for _ in range(dice.pick(sizes))]
    if len(set(values)) == 1 or sum(values) == 0:
        raise InputError("no spread, or no mean to subtract")
    return values


def whole_mean(values: Sequence[int]) -> list[int]:
    """The row itself, refused where its mean is not a whole number."""
    if sum(values) % len(values):
        raise InputError("the mean is a fraction")
    return list(values)


def half_way(values: list[int]) -> list[int]:
    """The row itself, refused where its mean or variance is neither whole nor a half, or its root is rational."""
    plain = trace(values, LAYER, ExactArithmetic(), eps=0)
    pleasant(plain["mean"].value[0, 0], plain["variance"].value[0, 0], denominator=2)
    if isinstance(plain["standard_deviation"].value[0, 0], Fraction):
        raise InputError("a root is to stay here")
    return values


def some(
    x: Sequence[int | Fraction],
    spec: Spec,
    step: str,
    faults: Sequence[str],
    *,
    rule: Rule = FIGURES,
    index: int | None = None,
    gamma: Sequence[Fraction] | int = 1,
    beta: Sequence[Fraction] | int = 0,
    eps: Fraction = Fraction(0),
    others: Sequence[str] = (),
    more: Iterable[Wrong] = (),
) -> tuple[Numbers, Trace]:
    """The answer at a step of a trace of one row (entry `index`, or whole), with all its wrong paths."""
    right = trace(list(x), spec, ExactArithmetic(), gamma=gamma, beta=beta, eps=eps)

    def pick(run: Trace) -> tuple[exact.Exact, ...]:
        return picked(values_at(run, step), index)

    wrong = [
        *attempted(wrong_paths(right, faults, step, x=list(x), gamma=gamma, beta=beta, eps=eps, index=index)),
        *other_steps(right, others, index),
        *more,
    ]
    rounding = tuple(by_rounding(right, rule, pick, x=list(x), gamma=gamma, beta=beta, eps=eps))
    values = pick(right)
    whole = index is None and step == "output"
    answer = Numbers(values, rule, tuple(wrong), rounding, len(values) == 1, right if whole else None)
    return answer, right


def steps(right: Trace, step: str) -> tuple[Work, ...]:
    """The worked steps of one trace up to a step."""
    return (Run(right, step),)


def spelled(values: Iterable[object]) -> str:
    """A row as a prompt shows it; with commas, because 3 1/2 is read as one number."""
    return ", ".join(exact.text(exact.tidy(Fraction(v))) if isinstance(v, (int, Fraction)) else str(v) for v in values)


def ordinal(index: int) -> str:
    """The place of an entry in words."""
    return ("first", "second", "third", "fourth", "fifth", "sixth")[index]


def pleasant(*values: exact.Exact, denominator: int = 60) -> None:
    """Refuse a draft whose numbers are not whole or small fractions."""
    for value in values:
        if not isinstance(value, Fraction) or value.denominator > denominator:
            raise InputError("not pleasant by hand")
