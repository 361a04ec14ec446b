"""`lnorm quiz` and its subcommands."""

from __future__ import annotations

import difflib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lnorm_cli.cli import options, sheets
from lnorm_cli.cli.help import Group
from lnorm_cli.cli.sheets import Pack, Seed, Topic
from lnorm_cli.errors import InputError

if TYPE_CHECKING:
    from lnorm_cli.progress import Store

EPILOG = """\b
Examples:
  lnorm quiz
  lnorm quiz --topic epsilon --count 5
  lnorm quiz worksheet --seed 7 --key key.md
  lnorm quiz progress

At a question: h is the next hint, s shows the steps, q leaves. Numbers may
be exact (-1/3, sqrt(2)) or decimals with the places asked for. Progress is
kept in one file (lnorm quiz progress --path; LNORM_DATA_DIR moves it).
"""


class Commands(Group):
    """Suggests a subcommand for a mistyped one."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.commands and not args[0].startswith("-"):
            if ctx.resilient_parsing:
                return None, None, []
            near = difflib.get_close_matches(args[0], self.commands, n=1)
            hint = f"did you mean {near[0]}?" if near else f"commands are {', '.join(self.commands)}"
            raise InputError(f"lnorm quiz has no command {args[0]!r}", hint=hint)
        return super().resolve_command(ctx, args)


def register(app: typer.Typer) -> None:
    quiz_app = typer.Typer(
        cls=Commands,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
        invoke_without_command=True,
    )
    quiz_app.callback(epilog=EPILOG)(quiz)
    quiz_app.command("worksheet", epilog=sheets.WORKSHEET)(sheets.worksheet)
    quiz_app.command("grade", epilog=sheets.GRADE)(sheets.grade)
    quiz_app.command("progress", epilog=PROGRESS)(progress)
    quiz_app.command("export", epilog=sheets.EXPORT)(sheets.export)
    app.add_typer(quiz_app, name="quiz", help=quiz.__doc__)


def quiz(
    context: typer.Context,
    topic: Topic = None,
    count: Annotated[int, typer.Option("--count", min=1, max=1000, help="How many questions.")] = 10,
    seed: Seed = None,
    new: Annotated[bool, typer.Option("--new", help="Only items that you have not seen.")] = False,
    no_save: Annotated[bool, typer.Option("--no-save", help="Store nothing.")] = False,
    pack: Pack = None,
    ascii: options.Ascii = False,
) -> int:
    """Practise: what is due first, then new items."""
    if context.invoked_subcommand is not None:
        return 0
    from datetime import UTC, datetime

    from lnorm_cli.quiz.bank import Bank
    from lnorm_cli.quiz.closing import write_opening, write_summary
    from lnorm_cli.quiz.dice import Dice
    from lnorm_cli.quiz.loop import Loop
    from lnorm_cli.quiz.session import plan
    from lnorm_cli.render.terminal import Terminal

    bank = Bank(pack or ())
    topics = [bank.topic(name) for name in topic or ()]
    store = _store(save=not no_save)
    now = datetime.now(UTC)
    dice = Dice("session", seed if seed is not None else os.urandom(8).hex())
    planned = plan(bank, store.scheduled(now), now, dice, count=count, topics=topics, only_new=new)
    terminal = Terminal(ascii=ascii)
    mine = [entry for entry in store.scheduled(now).values() if not topics or entry.topic in topics]
    write_opening(terminal, planned, mine, now)
    if planned.asked:
        tally = Loop(terminal, store).run(planned)
        now = datetime.now(UTC)
        write_summary(terminal, tally, now, saved=store.save)
    store.close()
    return 0


def _store(*, save: bool = True) -> Store:
    """The progress file of this user; what is to be said about it goes to stderr."""
    from lnorm_cli.progress import Store
    from lnorm_cli.render.terminal import visible

    own = os.environ.get("LNORM_DATA_DIR")
    directory = Path(own) if own else Path(typer.get_app_dir("lnorm"))
    return Store(
        directory / "progress.db",
        save=save,
        tell=lambda text: print(f"note: {visible(text)}", file=sys.stderr, flush=True),
    )


PROGRESS = """\b
Examples:
  lnorm quiz progress
  lnorm quiz progress --export json
  lnorm quiz progress --reset
"""


def progress(
    path: Annotated[bool, typer.Option("--path", help="Say where progress is kept.")] = False,
    export: Annotated[Literal["json"] | None, typer.Option("--export", help="Everything that is stored.")] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Forget everything (asks first).")] = False,
    pack: Pack = None,
    json: options.Json = False,
    ascii: options.Ascii = False,
) -> int:
    """What you know, what is due, what goes wrong most."""
    from datetime import UTC, datetime

    from lnorm_cli.quiz.bank import Bank
    from lnorm_cli.quiz.mastery import document, misconceptions, standings
    from lnorm_cli.quiz.views import write_standings
    from lnorm_cli.render.terminal import Terminal

    store = _store()
    if path:
        print(store.path)
        return 0
    if reset:
        return _reset(store)
    now, bank = datetime.now(UTC), Bank(pack or ())
    if json or export is not None:
        from lnorm_cli.render.machine import write_json

        write_json(document(store, bank, now), sys.stdout)
        return 0
    answers = store.answers()
    found = standings(bank, store.scheduled(now), answers, now)
    write_standings(Terminal(ascii=ascii), found, misconceptions(answers))
    return 0


def _reset(store: Store) -> int:
    """Forget everything after a yes."""
    import sqlite3

    from lnorm_cli.quiz.asking import EndOfInput, Prompter

    count = len(store.answers())
    if not count:
        print("Nothing is stored.")
        return 0
    try:
        word = Prompter().ask(f"Forget all {count} answers? yes or no> ")
    except EndOfInput:
        word = ""
    if word.strip().lower() not in ("y", "yes"):
        print("Nothing was changed.")
        return 0
    try:
        store.reset()
    except (OSError, sqlite3.Error) as error:
        raise InputError(f"{store.path} cannot be changed: {error}", hint="remove the file by hand") from None
    print("Everything is forgotten.")
    return 0
