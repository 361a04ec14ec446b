"""A report in words: the verdict, each kind of failure with its smallest input, the passes in a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lnorm_cli.arithmetic import numpy_dtype
from lnorm_cli.check import judge
from lnorm_cli.check.report import CONFORMS, CaseResult, Report
from lnorm_cli.norm import NORMS
from lnorm_cli.render.terminal import Terminal, visible

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHOWN = 12
"""Most elements of one failure that are written out."""

ARRAYS = (judge.TIMED_OUT, judge.DIED, judge.GRADIENT, judge.CHANGED, judge.LEAK)
"""Reasons shown by whole arrays; for the others expected and got stand side by side."""

LABELS = {judge.CHANGED: ("before", "after"), judge.LEAK: ("in x it gives", "in other it gives")}

TITLES = {"layer": "LayerNorm", "rms": "RMSNorm"}


def write(terminal: Terminal, report: Report) -> None:
    """The whole report."""
    _verdict(terminal, report)
    groups = grouped(report.failures)
    for group in sorted(groups, key=lambda group: group[0].faults != report.faults):
        terminal.blank()
        _failure(terminal, report, group)
    _closing(terminal, report)


def grouped(failures: Sequence[CaseResult]) -> list[list[CaseResult]]:
    """Failures of one kind together (same faults, or same reason and sentence), the smallest input first."""
    groups: dict[Any, list[CaseResult]] = {}
    for result in failures:
        key = result.faults or (result.judgement.reason, _plain(result.judgement.message))
        groups.setdefault(key, []).append(result)
    return [sorted(group, key=_size) for group in groups.values()]


def _size(result: CaseResult) -> tuple[bool, int]:
    return result.judgement.reason != judge.WRONG_VALUES, result.case.x.size


def _plain(message: str) -> str:
    """A message without the numbers that differ from case to case."""
    return message.partition(":")[0] if message.startswith("it ") else ""


def _verdict(terminal: Terminal, report: Report) -> None:
    target = visible(report.target)
    what = f"{TITLES[report.norm]} on {'lists' if report.framework == 'lists' else report.framework + ' arrays'}"
    decisive = [result for result in report.results if not result.case.note]
    if report.verdict == CONFORMS:
        terminal.line(("conforms", "good"), f": {target}")
        terminal.paragraph(
            f"{what}; {'the only case passes' if len(decisive) == 1 else f'all {len(decisive)} cases pass'}"
        )
        return
    terminal.line(("fails", "bad"), f": {target}")
    total = len(decisive) + len(report.skipped)
    count = len(report.failures)
    terminal.paragraph(
        f"{what}; {count} of {total} {'case' if total == 1 else 'cases'} {'fails' if count == 1 else 'fail'}"
    )
    for fault in report.faults:
        _fault(terminal, fault, report.norm)


def _fault(terminal: Terminal, fault: str, norm: str) -> None:
    from lnorm_cli import faults

    entry = faults.fault(fault)
    terminal.blank()
    terminal.line((fault, "title"))
    terminal.paragraph(entry.sentence(NORMS[norm]), indent=2)
    terminal.paragraph(entry.mend, indent=2, hang=6, first="mend: ")


def _failure(terminal: Terminal, report: Report, group: Sequence[CaseResult]) -> None:
    result = group[0]
    terminal.line((f"case {result.case.id}", "label"), f": {result.judgement.reason}")
    terminal.paragraph(result.case.what, indent=2, style="dim")
    terminal.paragraph(visible(result.judgement.message), indent=2)
    _names(terminal, report, result)
    for sentence in next((member.evidence for member in group if member.evidence), ()):
        terminal.paragraph(sentence, indent=2)
    if result.judgement.reason in ARRAYS or not _elements(terminal, result):
        _arrays(terminal, result)
    others = [other.case.id for other in group[1:]]
    if others:
        terminal.paragraph(", ".join(others), indent=2, hang=2, first="the same in: ")


def _names(terminal: Terminal, report: Report, result: CaseResult) -> None:
    own = [fault for fault in result.faults if fault not in report.faults]
    if own:
        terminal.paragraph(" and ".join(own), indent=2, hang=2, first="looks like ")
    elif result.alternatives and not set(result.faults) & set(report.faults):
        terminal.paragraph(" or ".join(result.alternatives), indent=2, hang=2, first="could be ")


def _elements(terminal: Terminal, result: CaseResult) -> bool:
    """A table with an element a row, expected beside got; False when the two do not match in shape."""
    import numpy as np

    case, expected, got = result.case, result.judgement.expected, result.judgement.got
    if expected is None or got is None or not expected.shape == got.shape == case.x.shape:
        return False
    places = list(np.ndindex(case.x.shape))
    columns = [name for name in ("gamma", "beta") if _given(getattr(case, name), name)]
    rows, within = [], result.judgement.tolerance or 0.0
    for place in places[:SHOWN]:
        got_text, expected_text = judge.pair_text(float(got[place]), float(expected[place]), within)
        parameters = [_number(float(getattr(case, name)[place[-1]]), case.dtype) for name in columns]
        rows.append([_place(place), _number(float(case.x[place]), case.dtype), *parameters, expected_text, got_text])
    terminal.table(["", "x", *columns, "expected", "got"], rows, indent=2)
    if len(places) > SHOWN:
        terminal.paragraph(f"and {len(places) - SHOWN} more elements: --json shows all", indent=2)
    _conditions(terminal, result)
    return True


def _conditions(terminal: Terminal, result: CaseResult) -> None:
    tolerance = result.judgement.tolerance
    text = f"eps {float(result.case.eps):g}, {result.case.dtype}"
    if tolerance is not None:
        text += f"; differences up to {tolerance:.2g} are rounding"
    terminal.paragraph(text, indent=2, style="dim")


def _given(values: NDArray[Any], name: str) -> bool:
    return bool((values != (1 if name == "gamma" else 0)).any())


def _arrays(terminal: Terminal, result: CaseResult) -> None:
    """The input as nested lists, and expected and got where there are any."""
    case, judgement = result.case, result.judgement
    for name in ("x", *(name for name in ("gamma", "beta") if _given(getattr(case, name), name))):
        terminal.paragraph(_listed(getattr(case, name), case.dtype), indent=2, hang=2, first=f"{name} = ")
    if judgement.reason == judge.LEAK and case.other is not None:
        terminal.paragraph(_listed(case.other, case.dtype), indent=2, hang=2, first="other = ")
    labels = LABELS.get(judgement.reason, ("expected", "got"))
    for name, array in zip(labels, (judgement.expected, judgement.got), strict=True):
        if array is not None and array.size <= 4 * SHOWN:
            terminal.paragraph(_listed(array, "float64"), indent=2, hang=2, first=f"{name} ")
    _conditions(terminal, result)


def _closing(terminal: Terminal, report: Report) -> None:
    passed = [result.case.id for result in report.results if result.outcome == judge.PASS and not result.case.note]
    terminal.blank()
    if passed and report.verdict != CONFORMS:
        terminal.paragraph(", ".join(passed), hang=2, first=f"{len(passed)} pass: ")
    if report.skipped:
        reason = "not run, since the code had stopped answering: "
        terminal.paragraph(", ".join(report.skipped), hang=2, first=f"{len(report.skipped)} {reason}")
    for note in report.notes:
        terminal.paragraph(note, hang=2, first="note: ", style="dim")
    for result in report.results if report.verdict == CONFORMS else ():
        if result.case.note and result.outcome != judge.PASS:
            _half_precision(terminal, result)


def _half_precision(terminal: Terminal, result: CaseResult) -> None:
    case = result.case
    named = f" ({' and '.join(result.faults)})" if result.faults else ""
    terminal.paragraph(
        f"in {case.dtype} the case {case.id} fails{named}: {visible(result.judgement.message)}. "
        f"That does not decide; --dtype {case.dtype} asks for it",
        hang=2,
        first="note: ",
        style="dim",
    )


def _place(place: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, place))}]"


def _number(value: float, dtype: str) -> str:
    """The shortest decimal that is this number in its dtype."""
    text = str(numpy_dtype(dtype).type(value))
    return text.removesuffix(".0")


def _listed(array: NDArray[Any], dtype: str) -> str:
    if array.ndim == 0:
        return f"{float(array):.7g}" if dtype == "float64" else _number(float(array), dtype)
    return f"[{', '.join(_listed(part, dtype) for part in array)}]"
