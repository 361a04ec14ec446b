"""What is said before and after a session, word by word."""

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from conftest import invoke

from lnorm_cli.progress import Scheduled
from lnorm_cli.quiz.bank import Bank
from lnorm_cli.quiz.closing import write_opening, write_summary
from lnorm_cli.quiz.loop import Tally
from lnorm_cli.quiz.session import Plan, Planned
from lnorm_cli.render.terminal import Terminal

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTES, DAYS = timedelta(minutes=9, seconds=30), timedelta(days=2)
"""A little less than ten minutes is said as 10."""


@pytest.mark.parametrize(
    ("waits", "said"),
    [
        ([DAYS], "it is due in 2 days"),
        ([MINUTES], "it is due in 10 minutes"),
        ([DAYS, DAYS], "they are due in 2 days"),
        ([DAYS, 4 * DAYS], "the first of these is due in 2 days"),
        ([MINUTES, 2 * MINUTES], "the first of these is due in 10 minutes"),
        ([MINUTES, DAYS], "1 of these is due in 10 minutes, the other in 2 days"),
        ([MINUTES, MINUTES, DAYS, DAYS], "2 of these are due in 10 minutes, the others in 2 days"),
        ([MINUTES, 2 * MINUTES, DAYS, 4 * DAYS], "2 of these are due within 20 minutes, the others from 2 days on"),
    ],
)
def test_when_the_items_come_again(waits: list[timedelta], said: str) -> None:
    stream = io.StringIO()
    tally = Tally(asked=len(waits), first=len(waits), due=[NOW + wait for wait in waits])
    write_summary(Terminal(stream, width=100), tally, NOW, saved=True)
    assert stream.getvalue().splitlines()[-1] == f"Next:  {said}."


def test_what_was_right_in_part_is_counted_as_such() -> None:
    stream = io.StringIO()
    tally = Tally(asked=5, first=1, second=1, partly=1, wrong=1, hints=2)
    write_summary(Terminal(stream, width=100), tally, NOW, saved=True)
    assert stream.getvalue().splitlines() == [
        "5 answered: 1 right at once, 1 at the second try, 1 in part, 1 not yet, 1 left open, with 2 hints."
    ]


def test_a_session_ahead_of_time_says_when_the_next_item_is_due() -> None:
    stream = io.StringIO()
    plan = Plan((Planned(Bank().items["variance"], 1),), due=0, new=0)
    write_opening(Terminal(stream, width=100), plan, [Scheduled("variance", "layernorm", NOW + DAYS, 1.0)], NOW)
    assert stream.getvalue().strip() == "Nothing is due now, the next item in 2 days. These come ahead of time."


@pytest.mark.parametrize("line", ["no letter", "", "h", "?"])
def test_a_pipe_that_never_answers_ends(line: str, tmp_path: Path) -> None:
    lines = f"{line}\n" * 5000
    done = invoke("quiz", "--count", "2", "--seed", "3", stdin=lines, env={"LNORM_DATA_DIR": str(tmp_path)})
    assert done.code == 0
    assert done.out.count("> ") <= 201
    assert "200 lines and no answer: that is enough." in done.out
