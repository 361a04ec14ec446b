"""The commands of `lnorm quiz` for teachers: worksheets, marking, cards."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from lnorm_cli.cli import completion, options
from lnorm_cli.errors import InputError

Topic = Annotated[
    list[str] | None,
    typer.Option(
        "--topic",
        metavar="NAME",
        help="Only this topic (may be repeated).",
        autocompletion=completion.item_topics,
    ),
]
Pack = Annotated[
    list[str] | None, typer.Option("--pack", metavar="FILE.toml", help="Add your own items (may be repeated).")
]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="The same seed gives the same questions.")]

WORKSHEET = """\b
Examples:
  lnorm quiz worksheet --count 10 --seed 7 --key key.md
  lnorm quiz worksheet --topic epsilon -f latex --key key.tex

The sheet goes to standard output, the key with worked steps to --key. The id
above each question is what lnorm quiz grade reads.
"""
SheetFormat = Literal["markdown", "latex", "json"]


def worksheet(
    count: Annotated[int, typer.Option("--count", min=1, max=500, help="How many questions.")] = 10,
    seed: Seed = None,
    topic: Topic = None,
    format: Annotated[SheetFormat, typer.Option("-f", "--format", help="How to write it.")] = "markdown",
    key: Annotated[
        str | None, typer.Option("--key", metavar="FILE", help="Write the key, with worked steps, here.")
    ] = None,
    pack: Pack = None,
    json: options.Json = False,
    ascii: options.Ascii = False,
) -> int:
    """A sheet of exercises, and its key."""
    from lnorm_cli.quiz.bank import Bank
    from lnorm_cli.quiz.sheets import make_sheet, write_sheet

    bank = Bank(pack or ())
    topics = [bank.topic(name) for name in topic or ()]
    if seed is None:
        seed = int.from_bytes(os.urandom(2))
    sheet = make_sheet(bank, seed, count, topics)
    chosen = "json" if json else format
    if len(sheet.questions) < count:
        found = len(sheet.questions)
        are = "is only 1 question" if found == 1 else f"are only {found} different questions"
        _tell(f"note: there {are} here")
    if key is not None:
        _write_file(key, _encodable(write_sheet(sheet, chosen, key=True), "ascii" if ascii else "utf-8"))
        _tell(f"wrote the key to {key}")
    encoding = "ascii" if ascii else sys.stdout.encoding or "ascii"
    sys.stdout.write(_encodable(write_sheet(sheet, chosen, key=False), encoding))
    return 0


def _tell(text: str) -> None:
    """Say something beside the result."""
    from lnorm_cli.render.terminal import visible

    print(visible(text), file=sys.stderr)


def _encodable(text: str, encoding: str) -> str:
    """The text, spelled in ASCII where the encoding has not all of it."""
    from lnorm_cli.render.terminal import spelled

    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return spelled(text)
    return text


def _write_file(name: str, text: str) -> None:
    """Write a file whole or not at all."""
    path = Path(name)
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a directory")
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8", newline="\n")
            return
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            part.write_text(text, encoding="utf-8", newline="\n")
            os.replace(part, path)
        except OSError:
            with contextlib.suppress(OSError):  # where the part could not be made, there is none to take away
                part.unlink()
            raise
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL in it
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{name} cannot be written: {reason}", hint="choose another place") from None


GRADE = """\b
Examples:
  lnorm quiz grade answers.csv
  lnorm quiz grade answers.csv --pass 60 --json

The file has the columns student,item,answer (or is a JSON list of objects
with these fields); item is the id on the worksheet. A vector gives a part of
its mark for every right entry, and half where only an early slip was carried
forward.

Exit code 1 when someone is below --pass.
"""


def grade(
    answers: Annotated[str, typer.Argument(metavar="ANSWERS", help="A csv or json file.", show_default=False)],
    needed: Annotated[
        float | None, typer.Option("--pass", metavar="PERCENT", min=0, max=100, help="The share that passes.")
    ] = None,
    pack: Pack = None,
    json: options.Json = False,
    ascii: options.Ascii = False,
) -> int:
    """Mark the answers of many students."""
    from fractions import Fraction

    from lnorm_cli.quiz.bank import Bank
    from lnorm_cli.quiz.marking import mark, read_answers
    from lnorm_cli.quiz.views import report_document, write_report
    from lnorm_cli.render.terminal import Terminal

    limit = None if needed is None else Fraction(str(needed))
    report = mark(Bank(pack or ()), read_answers(answers))
    if json:
        from lnorm_cli.render.machine import write_json

        write_json(report_document(report, limit), sys.stdout)
    else:
        write_report(Terminal(ascii=ascii), report, limit)
    below = limit is not None and any(result.percent < limit for result in report.results)
    return 1 if below else 0


EXPORT = """\b
Examples:
  lnorm quiz export --anki lnorm.txt
  lnorm quiz export --anki epsilon.txt --topic epsilon
"""


def export(
    anki: Annotated[str, typer.Option("--anki", metavar="FILE", help="Write cards for Anki's text import.")],
    topic: Topic = None,
    seed: Seed = 0,
    each: Annotated[int, typer.Option("--each", min=1, max=100, help="Cards of each numeric generator.")] = 3,
    pack: Pack = None,
    ascii: options.Ascii = False,
) -> int:
    """Cards for Anki."""
    from lnorm_cli.quiz.anki import anki_cards
    from lnorm_cli.quiz.bank import Bank
    from lnorm_cli.quiz.generators import generators
    from lnorm_cli.render.terminal import visible

    bank = Bank(pack or ())
    topics = [bank.topic(name) for name in topic or ()]
    first = seed or 0
    questions = [
        item.question(first + number)
        for item in bank.of(topics)
        for number in range(each if item.key in generators() else 1)
    ]
    _write_file(anki, _encodable(anki_cards(questions), "ascii" if ascii else "utf-8"))
    cards = "1 card" if len(questions) == 1 else f"{len(questions)} cards"
    print(visible(f"wrote {cards} to {anki}; in Anki: File, Import"))
    return 0
