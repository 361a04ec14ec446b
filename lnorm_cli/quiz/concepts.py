"""A concept item, and the question that a seed makes of it: the order shown, the numbers computed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lnorm_cli import exact
from lnorm_cli.arithmetic import Exact
from lnorm_cli.errors import InputError
from lnorm_cli.norm import NORMS, Trace, trace
from lnorm_cli.quiz.dice import Dice
from lnorm_cli.quiz.formulas import NAMES
from lnorm_cli.quiz.paths import (
    attempted,
    distinct,
    faulty,
    happened,
    other_steps,
    picked,
    shown,
    values_at,
    wrong_paths,
)
from lnorm_cli.quiz.questions import (
    Answer,
    Choice,
    Formula,
    Numbers,
    Option,
    Order,
    Question,
    Recall,
    Run,
    Work,
    Wrong,
    WrongFormula,
)
from lnorm_cli.quiz.rounding import by_rounding
from lnorm_cli.quiz.rules import Rule
from lnorm_cli.quiz.typeset import names_in
from lnorm_cli.reading import parse_number, parse_vector

_FAULTS = {
    "mean": (),
    "variance": ("unbiased-variance", "sum-not-mean", "second-moment", "mean-absolute-deviation"),
    "mean_square": ("layer-for-rms", "sum-not-mean", "unbiased-variance"),
    "standard_deviation": ("unbiased-variance", "sum-not-mean", "second-moment", "mean-absolute-deviation"),
    "root_mean_square": ("layer-for-rms", "sum-not-mean", "unbiased-variance"),
    "normalized": (
        "unbiased-variance", "variance-not-root", "not-centered", "second-moment", "sign-flipped",
        "epsilon-omitted", "epsilon-outside-root", "epsilon-after-division",
    ),
}  # fmt: skip
_RMS_FAULTS = ("layer-for-rms", "variance-not-root", "sum-not-mean", "unbiased-variance", "epsilon-omitted",
               "epsilon-outside-root")  # fmt: skip
_AFFINE = ("gamma-omitted", "beta-omitted", "affine-omitted", "gamma-beta-swapped", "beta-before-gamma",
           "one-plus-gamma", "affine-first-only", "affine-reversed")  # fmt: skip
_NEIGHBOURS = {
    "variance": ("standard_deviation", "mean"),
    "standard_deviation": ("variance",),
    "root_mean_square": ("mean_square",),
    "mean_square": ("root_mean_square",),
    "normalized": ("deviation",),
    "output": ("normalized",),
}


@dataclass(frozen=True)
class Concept:
    """One item of a file; its fields have been checked by `content`."""

    data: Mapping[str, Any]

    @property
    def key(self) -> str:
        return str(self.data["id"])

    @property
    def kind(self) -> str:
        return str(self.data["kind"])

    @property
    def topic(self) -> str:
        return str(self.data.get("topic", "own"))

    @property
    def covers(self) -> tuple[str, ...]:
        return tuple(self.data.get("covers", ()))

    @property
    def source(self) -> str:
        return str(self.data.get("source", ""))

    def question(self, seed: int) -> Question:
        """The question as it is asked; choices and lines are shuffled by the seed."""
        answer, given, work = _MAKERS[self.kind](self.data, Dice(self.key, seed))
        shuffled = isinstance(answer, (Choice, Order))
        return Question(
            id=f"{self.key}:{seed}" if shuffled else self.key,
            key=self.key,
            topic=self.topic,
            kind=self.kind,
            prompt=str(self.data["prompt"]),
            hints=tuple(self.data.get("hints", ())),
            answer=answer,
            explain=str(self.data.get("explain", "")),
            source=self.source,
            given=given,
            work=work,
        )


_Made = tuple[Answer, tuple[tuple[str, str], ...], tuple[Work, ...]]


def _choice(data: Mapping[str, Any], dice: Dice) -> _Made:
    options = [Option(c["text"], c.get("right") is True, c.get("feedback", "")) for c in data["choices"]]
    return Choice(tuple(dice.shuffled(options))), (), ()


def _order(data: Mapping[str, Any], dice: Dice) -> _Made:
    lines = list(data["lines"])
    mixed = lines
    while mixed == lines:
        mixed = dice.shuffled(lines)
    right = tuple(mixed.index(line) for line in lines)
    return Order(tuple(mixed), right, data.get("why", "")), (), ()


def _recall(data: Mapping[str, Any], dice: Dice) -> _Made:
    return Recall(data["model"], tuple(data.get("points", ()))), (), ()


def _formula(data: Mapping[str, Any], dice: Dice) -> _Made:
    own = tuple(data.get("names", ()))
    names = (*own, *(name for name in NAMES if name not in own))
    wrong = tuple(WrongFormula(w["answer"], w.get("feedback", "")) for w in data.get("wrong", ()))
    return Formula(data["answer"], names, wrong, _named(data["prompt"], data["answer"], wrong)), (), ()


def _named(prompt: str, answer: str, wrong: tuple[WrongFormula, ...]) -> tuple[str, ...]:
    """The names that an answer may need: those of the right one, and of wrong ones where the prompt has them too.

    In the order of the prompt, where it names them.
    """
    tempting = [name for w in wrong for name in names_in(w.text) if re.search(rf"\b{name}\b(?! = [0-9])", prompt)]
    names = dict.fromkeys((*names_in(answer), *tempting))
    places = {name: re.search(rf"\b{name}\b", prompt) for name in names}
    return tuple(sorted(names, key=lambda name: found.start() if (found := places[name]) else len(prompt)))


def rule_of(text: str) -> Rule:
    """The rule that `precision` names: exact, 4 figures, 3 decimals, within 0.01."""
    number, _, unit = text.partition(" ")
    if text == "exact":
        return Rule()
    if number == "within":
        tolerance = exact.approximate(parse_number(unit))
        if tolerance <= 0:
            raise InputError("a tolerance is greater than 0")
        return Rule(tolerance=tolerance)
    return Rule(figures=int(number)) if unit.startswith("figure") else Rule(decimals=int(number))


def _numbers(data: Mapping[str, Any], dice: Dice) -> _Made:
    rule = rule_of(data.get("precision", "4 figures"))
    single = data["kind"] == "number"
    listed = tuple(
        Wrong(_values(w["answer"], single), w.get("fault", w["answer"]), w.get("feedback", ""))
        for w in data.get("wrong", ())
    )
    if "answer" in data:
        values = _values(data["answer"], single)
        return Numbers(values, rule, tuple(distinct(values, listed, rule)), single=single), (), ()
    return _computed(data["compute"], rule, single, listed)


def _values(text: str, single: bool) -> tuple[exact.Exact, ...]:
    return (parse_number(text),) if single else tuple(parse_vector(text).reshape(-1))


def _computed(compute: Mapping[str, Any], rule: Rule, single: bool, listed: tuple[Wrong, ...]) -> _Made:
    x, parameters = _inputs(compute)
    spec, step = NORMS[compute.get("norm", "layer")], compute["step"]
    right = trace(x, spec, Exact(), **parameters)
    several = len(values_at(right, step)) > 1
    index = None if not single else int(compute["index"]) if several else int(compute.get("index", 0))
    values = picked(values_at(right, step), index)
    faults = _FAULTS.get(step, _FAULTS["normalized"]) if compute.get("norm", "layer") == "layer" else _RMS_FAULTS
    if step == "output":
        faults += _AFFINE
    wrong = [
        *listed,
        *(w for fault in faults for w in attempted(
            wrong_paths(right, (fault,), step, x=x, index=index, **parameters))),
        *other_steps(right, _NEIGHBOURS.get(step, ()), index),
    ]  # fmt: skip

    def pick(run: Trace) -> tuple[exact.Exact, ...]:
        return picked(values_at(run, step), index)

    rounding = tuple(by_rounding(right, rule, pick, x=x, **parameters))
    kept = tuple(
        w for w in distinct(values, wrong, rule) if shown(w.value, rule) not in {shown(r, rule) for r in rounding}
    )
    whole = right if index is None and step == "output" else None
    return Numbers(values, rule, kept, rounding, single, whole), (), (Run(right, step),)


def _inputs(data: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    x = parse_vector(data["x"])
    parameters = {
        "gamma": parse_vector(data.get("gamma", "1")),
        "beta": parse_vector(data.get("beta", "0")),
        "eps": parse_number(data.get("eps", "0")),
    }
    return x, parameters


def _spot(data: Mapping[str, Any], dice: Dice) -> _Made:
    x, parameters = _inputs(data)
    rule = Rule(figures=int(data.get("digits", 4)))
    right = trace(x, NORMS[data.get("norm", "layer")], Exact(), **parameters)
    gives = {
        fault: shown(trace(x, faulty(fault, right.spec), Exact(), **parameters).output, rule)
        for fault in (data["fault"], *data["others"])
    }
    numbers = gives[data["fault"]]
    if len(set(gives.values()) | {shown(right.output, rule)}) < len(gives) + 1:
        raise InputError("two of the faults give the same numbers here, or none shows")
    options = [
        Option(
            happened(fault, right.spec).rstrip("."),
            fault == data["fault"],
            "" if fault == data["fault"] else f"That would give {', '.join(values)}.",
            fault,
        )
        for fault, values in gives.items()
    ]

    def listed(values: Any) -> str:
        return ", ".join(map(exact.text, values.reshape(-1)))

    given = [("x", listed(x))]
    given += [
        (name, listed(parameters[name]))
        for name in ("gamma", "beta")
        if data.get(name) not in (None, {"gamma": "1", "beta": "0"}[name])
    ]
    last = "output" if len(given) > 1 else "normalized"
    given += [("eps", data.get("eps", "0")), ("result", ", ".join(numbers))]
    return Choice(tuple(dice.shuffled(options))), tuple(given), (Run(right, last),)


_MAKERS = {
    "choice": _choice,
    "order": _order,
    "recall": _recall,
    "formula": _formula,
    "number": _numbers,
    "vector": _numbers,
    "spot": _spot,
}
