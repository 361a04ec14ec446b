"""Progress and marks as text."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from lnorm_cli.quiz.marking import Marked, Report, meaning
from lnorm_cli.quiz.mastery import FREQUENT, Standing
from lnorm_cli.quiz.rules import rounded
from lnorm_cli.quiz.sheets import SCHEMA
from lnorm_cli.render.terminal import Terminal, visible


def write_standings(terminal: Terminal, standings: Sequence[Standing], frequent: Sequence[tuple[str, int]]) -> None:
    """A table of the topics that were begun, and the most frequent misconceptions."""
    begun = [standing for standing in standings if standing.answered or standing.seen]
    if not begun:
        terminal.paragraph("Nothing has been answered yet. Begin with: lnorm quiz")
        return
    rows = [
        (s.topic, f"{s.seen}/{s.items}", str(s.due), f"{s.right}/{s.answered}", f"{round(100 * s.mastery)}%")
        for s in begun
    ]
    terminal.table(("topic", "seen", "due", "right", "mastery"), rows)
    terminal.blank()
    left = len(standings) - len(begun)
    due = sum(standing.due for standing in standings)
    ahead = f"; {left} topics not begun" if left else ""
    terminal.paragraph(f"{due} due now{ahead}. Mastery: the share of a topic's items you would get right today.")
    write_misconceptions(terminal, frequent[:FREQUENT])


def write_misconceptions(terminal: Terminal, frequent: Sequence[tuple[str, int]]) -> None:
    """Misconceptions with their counts."""
    if not frequent:
        return
    terminal.blank()
    terminal.title("Most frequent misconceptions")
    for name, count in frequent:
        sentence = meaning(name)
        text = f"{visible(name)}: {sentence}" if sentence else visible(name)
        terminal.paragraph(text, first=f"{count} x ", indent=1, hang=len(f"{count} x "))


def write_report(terminal: Terminal, report: Report, needed: Fraction | None) -> None:
    """Marks by student, misconceptions by frequency, and what a person has to look at."""
    rows = []
    for result in report.results:
        row = [visible(result.student), f"{number(result.mark)}/{result.of}", percent(result.percent)]
        if needed is not None:
            row.append("pass" if result.percent >= needed else "below")
        rows.append(row)
    headers = ["student", "marks", "percent", *(["result"] if needed is not None else [])]
    terminal.table(headers, rows)
    write_misconceptions(terminal, report.misconceptions)
    by_hand = [entry for entry in report.marked if entry.by_hand]
    if by_hand:
        terminal.blank()
        terminal.title("To look at by hand")
        for entry in by_hand:
            given = entry.given
            text = f"{visible(given.student)}, {given.item}: {visible(_cut(given.answer.strip()))} ({_reason(entry)})"
            terminal.paragraph(text, first="- ", hang=2, indent=1)


def _reason(entry: Marked) -> str:
    """Why a person has to look at an answer."""
    grade = entry.grade
    if grade.outcome == "ungraded":
        return "free text"
    reason = visible(grade.message)
    return f"too few figures, {number(grade.mark)} of 1: {reason}" if grade.short else reason


def _cut(answer: str, most: int = 80) -> str:
    return answer if len(answer) <= most else answer[:most] + "..."


def report_document(report: Report, needed: Fraction | None) -> dict[str, Any]:
    """The marks as one JSON document."""
    return {
        "schema": SCHEMA,
        "kind": "marks",
        "pass": None if needed is None else float(needed),
        "students": [
            {
                "student": result.student,
                "mark": float(result.mark),
                "of": result.of,
                "percent": float(result.percent),
                "passed": None if needed is None else result.percent >= needed,
            }
            for result in report.results
        ],
        "misconceptions": [
            {"id": name, "count": count, "meaning": meaning(name)} for name, count in report.misconceptions
        ],
        "answers": [
            {
                "student": entry.given.student,
                "item": entry.given.item,
                "answer": entry.given.answer,
                "outcome": entry.grade.outcome,
                "mark": float(entry.grade.mark),
                "misconceptions": list(entry.grade.misconceptions),
                "message": entry.grade.message,
            }
            for entry in report.marked
        ],
    }


def number(value: Fraction) -> str:
    """A mark with at most two decimals."""
    return f"{float(rounded(value, -2)):g}"


def percent(value: Fraction) -> str:
    return f"{float(rounded(value, -1)):g}%"
