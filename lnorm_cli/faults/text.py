"""A diagnosis in words: the verdict, the mistake, implied numbers beside the right ones, how to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lnorm_cli.faults.catalogue import fault
from lnorm_cli.faults.diagnosis import Diagnosis
from lnorm_cli.faults.words import apart, index_text

if TYPE_CHECKING:
    from lnorm_cli.render.terminal import Style, Terminal

_STYLES: dict[str, Style] = {
    "correct": "good",
    "rounded": "good",
    "wrong": "bad",
    "malformed": "bad",
    "undecided": "warn",
}


def write(terminal: Terminal, diagnosis: Diagnosis, norm: str = "layer") -> None:
    """Write a diagnosis; what was typed appears literally."""
    from lnorm_cli.render.terminal import visible

    def paragraph(text: str, label: str = "") -> None:
        terminal.paragraph(visible(text), hang=2, first=f"{label}: " if label else "")

    names = " + ".join(diagnosis.faults)
    headline = diagnosis.verdict + (f": {names}" if names else "")
    terminal.paragraph(headline, hang=2, style=_STYLES[diagnosis.verdict])
    if diagnosis.message != "Correct.":
        paragraph(_without_opening(diagnosis))
    for line in diagnosis.evidence:
        paragraph(line)
    just_blank = _numbers(terminal, diagnosis, norm)
    if diagnosis.first_step:
        paragraph(diagnosis.first_step.replace("_", " "), "first step that differs")
    if diagnosis.mend:
        paragraph(diagnosis.mend, "to mend it")
    if diagnosis.alternatives:
        if diagnosis.first_step or diagnosis.mend:
            terminal.blank()
        paragraph("The same numbers also come from:")
        for name in diagnosis.alternatives:
            words = " ".join(fault(part).happened for part in name.split("+"))
            terminal.paragraph(f"{name}: {words}", indent=2, hang=2, first="- ")
    if diagnosis.tell_apart:
        paragraph(f"{diagnosis.tell_apart} gives different numbers for each.", "to tell them apart")
    explained = diagnosis.first_step or diagnosis.mend or diagnosis.alternatives or diagnosis.tell_apart
    if (diagnosis.notes or diagnosis.tolerance) and (explained or not just_blank):
        terminal.blank()
    for note in diagnosis.notes:
        paragraph(note, "note")
    if diagnosis.tolerance:
        paragraph(diagnosis.tolerance + ".", "compared")


def _without_opening(diagnosis: Diagnosis) -> str:
    """The message less the verdict, which stands above it already."""
    opening, _, rest = diagnosis.message.partition(". ")
    return rest if rest and diagnosis.verdict != "malformed" and len(opening) < 40 else diagnosis.message


def _numbers(terminal: Terminal, diagnosis: Diagnosis, norm: str) -> bool:
    """The implied numbers beside the right ones; whether there were any (a blank line then ends them)."""
    rows = []
    if diagnosis.implied and diagnosis.right:
        names = {"mean": "mean", "standard_deviation": "standard deviation"}
        if norm == "rms":
            names = {"mean": "subtracted", "standard_deviation": "root mean square"}
        where = f" of row {index_text(diagnosis.row)}" if diagnosis.row else ""
        rows = [(f"{name}{where}", *apart(diagnosis.implied[key], diagnosis.right[key])) for key, name in names.items()]
    worst = diagnosis.worst
    if worst is not None and diagnosis.verdict == "wrong":
        rows.append((f"y[{index_text(worst.index)}]", *apart(worst.given, worst.right)))
    if rows:
        terminal.blank()
        terminal.table(("", "your answer", "right"), rows, indent=2)
        terminal.blank()
    return bool(rows)
