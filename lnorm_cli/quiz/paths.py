"""Wrong paths: a fault is a wrong Spec, run by the same trace as the right answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from lnorm_cli import exact
from lnorm_cli.arithmetic import Exact as ExactArithmetic
from lnorm_cli.errors import InputError
from lnorm_cli.faults.catalogue import catalogue, fault, is_rms
from lnorm_cli.norm import LAYER, Spec, Trace, trace
from lnorm_cli.quiz.questions import Wrong
from lnorm_cli.quiz.rules import Rule, decimal

STEP_NAMES = {
    "mean": ("mean", "means"),
    "deviation": ("deviation from the mean", "deviations from the mean"),
    "variance": ("variance", "variances"),
    "standard_deviation": ("standard deviation", "standard deviations"),
    "mean_square": ("mean square", "mean squares"),
    "root_mean_square": ("root mean square", "root mean squares"),
    "normalized": ("normalized value, before gamma and beta", "normalized values, before gamma and beta"),
}
"""Steps in words, for one value and for several."""

_OF_STATISTICS = {
    "unbiased-variance": "The sum of squares was divided by n - 1. Divide by n, the number of features.",
    "sum-not-mean": "The squares were summed but not averaged. Divide the sum by n.",
    "second-moment": "The squares are those of x itself. Subtract the mean before squaring.",
    "mean-absolute-deviation": "That is the mean of the absolute deviations. Square them before averaging.",
    "layer-for-rms": "The mean was subtracted first. RMSNorm squares x as it is.",
}
"""What to say where a statistic was asked for: the catalogue's sentences speak of the finished row."""

_FOR_RMS = {
    "variance-not-root": "Divide by sqrt(mean square + epsilon).",
    "epsilon-omitted": "Add epsilon to the mean square, under the root; without it a row of zeros is 0/0.",
    "epsilon-outside-root": "Divide by sqrt(mean square + epsilon), not by sqrt(mean square) + epsilon.",
}
"""How to mend a mistake in an RMSNorm, which has no variance."""

_ALIKE = {
    "variance": ("variance", "mean_square", "mean_absolute_deviation"),
    "mean_square": ("mean_square", "variance"),
}


def faulty(name: str, spec: Spec) -> Spec:
    """The Spec of someone who makes this mistake; InputError where it is no wrong Spec of its own."""
    wrong = fault(name).spec(spec) if name in catalogue() else None
    if wrong is None:
        raise InputError(f"{name!r} is no wrong way to compute this norm", hint="ids stand in data/faults.toml")
    return wrong


def happened(name: str, spec: Spec = LAYER) -> str:
    """What the mistake was, in one sentence."""
    return fault(name).sentence(spec)


def says(name: str, spec: Spec = LAYER) -> str:
    """What the mistake was and how to mend it."""
    mend = _FOR_RMS.get(name) if is_rms(spec) else None
    return f"{fault(name).sentence(spec)} {mend or fault(name).mend}"


def values_at(run: Trace, step: str, row: int = 0) -> tuple[exact.Exact, ...]:
    """The values of a step of one row; another norm's statistic in the same place where it has no such step."""
    if step in ("standard_deviation", "root_mean_square"):
        step = next(s for s in run if s.operation == "divide" and s.name in ("normalized", "quotient")).operands[1]
    for name in _ALIKE.get(step, (step,)):
        if name in run or name in run.parameters:
            values = run.value(name)
            return tuple(values[row % len(values)])
    raise KeyError(step)


def wrong_paths(
    right: Trace,
    faults: Sequence[str],
    step: str,
    *,
    x: Any,
    gamma: Any = 1,
    beta: Any = 0,
    eps: Any = 0,
    index: int | None = None,
    row: int = 0,
) -> Iterator[Wrong]:
    """What each fault gives at a step (its entry `index`, or the whole row)."""
    for name in faults:
        run = trace(x, faulty(name, right.spec), ExactArithmetic(), gamma=gamma, beta=beta, eps=eps)
        values = values_at(run, step, row)
        said = _OF_STATISTICS.get(name) if right[step].statistic else None
        yield Wrong(picked(values, index), name, said or says(name, right.spec))


def other_steps(right: Trace, names: Sequence[str], index: int | None = None, row: int = 0) -> Iterator[Wrong]:
    """Other steps of the right calculation, given in place of the one asked for."""
    for name in names:
        values = picked(values_at(right, name, row), index)
        one, many = STEP_NAMES[name]
        said = f"That is the {one}" if len(values) == 1 else f"Those are the {many}"
        yield Wrong(values, "other-step", f"{said}: another step was asked for.")


def picked(values: tuple[exact.Exact, ...], index: int | None) -> tuple[exact.Exact, ...]:
    """One entry as a vector of one, or all; a statistic has one for all."""
    return values if index is None else (values[index if len(values) > 1 else 0],)


def shown(values: Iterable[exact.Exact], rule: Rule) -> tuple[str, ...]:
    """Values at the precision asked, as text."""
    return tuple(decimal(exact.approximate(value), rule) for value in values)


def distinct(right: Sequence[exact.Exact], wrong: Sequence[Wrong], rule: Rule) -> list[Wrong]:
    """The wrong answers that differ from the right one and, first come, from each other at the precision asked."""
    seen, kept = {shown(right, rule)}, []
    for one in wrong:
        if shown(one.value, rule) not in seen:
            seen.add(shown(one.value, rule))
            kept.append(one)
    return kept


def attempted(paths: Iterator[Wrong]) -> list[Wrong]:
    """The wrong paths up to one that is undefined here, such as a division by 0."""
    found = []
    try:
        for path in paths:
            found.append(path)
    except (InputError, KeyError):
        pass
    return found
