"""A check whole: load, settle how to call, run the cases, name faults, make failures small."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from lnorm_cli.check import judge
from lnorm_cli.check.cases import (
    COMPANIONS,
    DTYPE,
    GRADIENT,
    REPEAT,
    UNCHANGED,
    Case,
    case_ids,
    known_epsilons,
    load_cases,
)
from lnorm_cli.check.judge import ERROR, PASS, TIMEOUT, Judgement
from lnorm_cli.check.loading import split_target
from lnorm_cli.check.process import DeathError, Limits, TimeLimitError, Worker
from lnorm_cli.check.report import CaseResult, Report
from lnorm_cli.errors import InputError

STRIKES = 3
"""After so many cases in a row that ended or filled the process, the rest is not run."""

STRIKING = (judge.DIED, judge.TIMED_OUT, judge.OUT_OF_MEMORY)

SHRINKABLE = (judge.WRONG_VALUES, judge.WRONG_SHAPE, judge.RETURNED_NONE, judge.NO_ARRAY, judge.RAISED)

SHRINKING = 40
"""Most calls spent on making one failing input smaller."""


def check(
    target: str,
    *,
    norm: str = "layer",
    only: Sequence[str] = (),
    dtype: str | None = None,
    limits: Limits | None = None,
    announce: Callable[[], None] = lambda: None,
) -> Report:
    """Run the code behind FILE.py:NAME against the cases.

    `InputError` when it cannot be loaded or called, or when `only` names no case. The code runs in a process
    of its own under `limits`; `announce` is called just before it does.
    """
    from lnorm_cli.check.naming import name_faults

    started = time.monotonic()
    _check_ids(only)
    path, name = split_target(target)
    announce()
    with closing(Runner(path, name, target.rpartition(":")[0], norm, limits or Limits())) as runner:
        runner.start()
        eps, eps_note = _fixed_epsilon(runner)
        cases = _chosen(runner, load_cases(norm, taken=runner.taken, dtype=dtype or runner.dtype, eps=eps), only)
        results, skipped = _run(runner, cases)
        notes = _notes(runner, results, eps_note)
        report = name_faults(Report(target, norm, runner.framework, tuple(results), notes=tuple(notes)))
        results = [runner.shrink(result) for result in report.results]
    return replace(report, results=tuple(results), skipped=tuple(skipped), seconds=time.monotonic() - started)


def _chosen(runner: Runner, cases: Sequence[Case], only: Sequence[str]) -> list[Case]:
    """The cases to run; one asked for by name decides. `InputError` when none is left, for nothing would be shown."""
    chosen = [case for case in cases if runner.can(case)]
    if only:
        chosen = [replace(case, note=False) for case in chosen if case.id in only]
    if not any(not case.note for case in chosen):
        raise InputError(
            f"no case to run: what was asked for does not apply to code on {runner.framework}",
            hint="lists have no dtype, gradients need torch or jax; leave --dtype and --case out",
        )
    return chosen


def _check_ids(only: Sequence[str]) -> None:
    import difflib

    known = case_ids()
    for wanted in only:
        if wanted not in known:
            near = difflib.get_close_matches(wanted, known, n=1)
            hint = f"did you mean {near[0]}?" if near else "one of: " + ", ".join(known)
            raise InputError(f"there is no case {wanted!r}", hint=hint)


def _run(runner: Runner, cases: Sequence[Case]) -> tuple[list[CaseResult], list[str]]:
    results: list[CaseResult] = []
    strikes = 0
    for index, case in enumerate(cases):
        judgement = runner.judge(case)
        results.append(CaseResult(case, judgement))
        strikes = strikes + 1 if judgement.reason in STRIKING else 0
        if strikes == STRIKES:
            return results, [case.id for case in cases[index + 1 :]]
    return results, []


def _fixed_epsilon(runner: Runner) -> tuple[Fraction | None, list[str]]:
    """Code that takes no epsilon has one of its own: the known value that it agrees with, if any."""
    if "eps" in runner.taken:
        return None, []
    [case] = [c for c in load_cases(runner.norm, taken=runner.taken, dtype=runner.dtype) if c.id == "small-variance"]
    for text in known_epsilons():
        judgement = runner.judge(replace(case, eps=Fraction(text)))
        if judgement.outcome == PASS:
            return Fraction(text), [f"it takes no epsilon; its own is {text}, and so it is judged"]
        if judgement.outcome != judge.FAIL:
            break
    return None, ["it takes no epsilon: judged with 1e-5"]


def _notes(runner: Runner, results: Sequence[CaseResult], first: list[str]) -> list[str]:
    if all(result.outcome == ERROR for result in results):
        return []
    notes = list(first)
    if runner.framework == "lists" and 1 in runner.ranks and 2 not in runner.ranks:
        notes.append("it takes one row of numbers: higher ranks were given to it row by row")
    elif runner.framework == "lists" and runner.ranks == (2,):
        notes.append("it takes a list of rows: other ranks were given to it in that form")
    missing = [role for role in ("gamma", "beta") if role not in runner.taken]
    if missing == ["beta"] and runner.norm == "rms":
        missing = []
    if missing:
        notes.append(f"it takes no {' and no '.join(missing)}: judged without")
    remarks = [r.judgement.remark for r in results if r.judgement.remark and not r.case.note]
    return [*notes, *dict.fromkeys(remarks)]


class Runner:
    """A worker that is replaced whenever it is gone, and what is known about the code in it."""

    def __init__(self, path: Path, name: str, file: str, norm: str, limits: Limits) -> None:
        self.norm = norm
        self._limits = limits
        self._file = file
        self._load = {"do": "load", "path": str(path), "file": file, "name": name, "memory": limits.memory}
        self._worker: Worker | None = None
        self._settled: dict[str, Any] | None = None
        self.taken: list[str] = []
        self.framework = ""
        self.ranks: tuple[int, ...] = ()
        self.dtype: str | None = None

    def start(self) -> None:
        """Load the code and settle how it is called; `InputError` when it cannot be."""
        reply = self._started()
        self.taken = reply["taken"]
        self._settled = {"do": "settle", "framework": reply["framework"], "ranks": reply["ranks"]}
        probe = self._ask({"do": "probe"})
        if isinstance(probe, dict) and "framework" in probe:
            self._settled |= {"framework": probe["framework"], "ranks": probe["ranks"]}
            self.dtype = "float32" if probe["narrow"] else None
        self.framework = self._settled["framework"]
        self.ranks = tuple(self._settled["ranks"])

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def can(self, case: Case) -> bool:
        """Whether the framework knows what the case is about: lists have no dtype and no gradient."""
        if case.kind == GRADIENT:
            return self.framework in ("torch", "jax")
        return self.framework != "lists" or (case.kind != DTYPE and case.dtype in ("float64", "float32"))

    def _started(self) -> dict[str, Any]:
        """The running worker's reply to loading the file; `InputError` when it cannot be loaded."""
        self._worker = Worker()
        try:
            reply = self._worker.ask(self._load, max(self._limits.loading, self._limits.seconds))
        except (TimeLimitError, DeathError) as error:
            self._worker = None
            raise _unloadable(self._file, error, self._limits) from None
        if "cannot" in reply:
            self.close()
            raise InputError(reply["cannot"], hint=reply["hint"])
        if "raised" in reply:
            self.close()
            raise _import_error(self._file, reply)
        return reply

    def _ask(self, request: dict[str, Any]) -> dict[str, Any] | Judgement:
        """A reply, or the judgement when there is none."""
        if self._worker is None:
            try:
                self._started()
            except InputError as error:
                return Judgement(ERROR, judge.DIED, f"the file no longer loads: {error.what}")
            assert self._worker is not None
            if self._settled is not None:
                self._worker.ask(self._settled, self._limits.seconds)
        try:
            return self._worker.ask(request, self._limits.seconds)
        except TimeLimitError:
            self._worker = None
            return Judgement(TIMEOUT, judge.TIMED_OUT, f"no answer within {self._limits.seconds:g} s")
        except DeathError as error:
            self._worker = None
            return Judgement(ERROR, judge.DIED, str(error))

    def judge(self, case: Case) -> Judgement:
        """Run one case."""
        if case.kind == GRADIENT:
            weights = [(-1.0) ** i * (1 + i / 4) for i in range(case.x.size)]
            reply = self._ask({**case.request(), "do": "gradient", "weights": weights})
            return reply if isinstance(reply, Judgement) else judge.judge_gradient(case, reply)
        reply = self._ask(case.request())
        if isinstance(reply, Judgement):
            return reply
        if case.kind in (COMPANIONS, REPEAT):
            second = self._ask(case.request(case.other))
            return second if isinstance(second, Judgement) else judge.judge_pair(case, reply, second)
        if case.kind == DTYPE:
            return judge.judge_dtype(case, reply)
        if case.kind == UNCHANGED:
            return judge.judge_unchanged(case, reply)
        return judge.judge_call(case, reply)

    def shrink(self, result: CaseResult) -> CaseResult:
        """The failure on the smallest input that still shows it; others as they are."""
        if result.judgement.reason not in SHRINKABLE or result.case.other is not None:
            return result
        calls = 0
        candidates = result.case.smaller()
        while calls < SHRINKING and (case := next(candidates, None)) is not None:
            calls += 1
            judgement = self.judge(case)
            if judgement.reason in STRIKING:
                break
            if _alike(judgement, result.judgement):
                result = replace(result, case=case, judgement=judgement)
                candidates = case.smaller()
        return result


def _alike(one: Judgement, other: Judgement) -> bool:
    if one.reason != other.reason:
        return False
    return one.reason != judge.RAISED or one.message.partition(":")[0] == other.message.partition(":")[0]


def _unloadable(file: str, error: Exception, limits: Limits) -> InputError:
    seconds = max(limits.loading, limits.seconds)
    what = f"{file} was still loading after {seconds:g} s" if isinstance(error, TimeLimitError) else f"{file}: {error}"
    hint = "put what the file does when run under: if __name__ == '__main__':"
    return InputError(what if isinstance(error, TimeLimitError) else f"{what} while it was loading", hint=hint)


def _import_error(file: str, reply: dict[str, Any]) -> InputError:
    """Why the file could not be imported, in words, with its own line."""
    place = f"{file}, line {reply['line']}" if "line" in reply else file
    hint = "the file must load before a function in it can be checked"
    if reply["raised"] == "ModuleNotFoundError":
        hint = "install it where lnorm is installed; lnorm runs your file with its own Python"
    elif reply["raised"] == "SystemExit":
        hint = "put what the file does when run under: if __name__ == '__main__':"
    source = str(reply.get("source", ""))
    text = f": {reply['text']}" if reply["text"] else ""
    return InputError(f"{place}: {reply['raised']}{text}", hint=hint, text=source, position=0 if source else None)
