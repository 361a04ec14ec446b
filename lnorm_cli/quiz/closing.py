"""What is said before and after a session: what was right, what to read, when the next items are due."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from lnorm_cli.progress import Scheduled
from lnorm_cli.quiz.loop import Tally
from lnorm_cli.quiz.session import Plan
from lnorm_cli.render.terminal import Terminal

READ = 3
"""At most this many topics are named to be read."""


def write_opening(terminal: Terminal, plan: Plan, scheduled: Iterable[Scheduled], now: datetime) -> None:
    """One line where the session is not the usual one: nothing due and nothing new, or nothing at all."""
    if not plan.asked:
        terminal.paragraph("There is nothing new to ask here. Leave --new out to practise what you have seen.")
    elif plan.due == plan.new == 0:
        following = min((entry.due for entry in scheduled), default=now)
        terminal.paragraph(f"Nothing is due now, the next item {when(following, now)}. These come ahead of time.")
        terminal.blank()


def write_summary(terminal: Terminal, tally: Tally, now: datetime, *, saved: bool) -> None:
    """A short summary; nothing where nothing was answered."""
    if not tally.asked:
        terminal.paragraph("Nothing was answered, so nothing was stored.", style="dim")
        return
    parts = [f"{tally.first} right at once"] if tally.first else []
    parts += [f"{tally.second} at the second try"] if tally.second else []
    parts += [f"{tally.partly} in part"] if tally.partly else []
    parts += [f"{tally.wrong} not yet"] if tally.wrong else []
    open_ = tally.asked - tally.first - tally.second - tally.partly - tally.wrong
    parts += [f"{open_} left open"] if open_ else []
    hints = f", with {tally.hints} hint{'' if tally.hints == 1 else 's'}" if tally.hints else ""
    terminal.paragraph(f"{tally.asked} answered: {', '.join(parts)}{hints}.", style="title")
    for place, topic in enumerate(tally.to_read[:READ]):
        terminal.line("Read:  " if place == 0 else "       ", (f"lnorm explain {topic}", "code"))
    if tally.due and saved:
        terminal.paragraph(f"Next:  {_coming(sorted(tally.due), now)}.")
    if not saved:
        terminal.paragraph("Progress was not saved.", style="dim")


def _coming(due: Sequence[datetime], now: datetime) -> str:
    """When the items of this session are due: those of today apart from the later ones."""
    soon = [moment for moment in due if moment <= now + timedelta(hours=12)]
    later = [moment for moment in due if moment > now + timedelta(hours=12)]
    if len(due) == 1:
        return f"it is due {when(due[0], now)}"
    if not soon or not later:
        at_once = when(due[0], now) == when(due[-1], now)
        return f"{'they are' if at_once else 'the first of these is'} due {when(due[0], now)}"
    first, last = when(soon[0], now), when(soon[-1], now)
    these = f"{len(soon)} of these {'is' if len(soon) == 1 else 'are'} due"
    within = last if first == last else last.replace("in ", "within ", 1)
    first, last = when(later[0], now), when(later[-1], now)
    others = "the other" if len(later) == 1 else "the others"
    return f"{these} {within}, {others} {first if first == last else first.replace('in ', 'from ', 1) + ' on'}"


def when(moment: datetime, now: datetime) -> str:
    """A moment to come, in words."""
    wait = moment - now
    if wait <= timedelta(0):
        return "now"
    minutes = int(wait.total_seconds() // 60) + 1
    if minutes < 60:
        return f"in {minutes} minute{'' if minutes == 1 else 's'}"
    hours = round(wait.total_seconds() / 3600)
    if hours < 24:
        return f"in {hours} hour{'' if hours == 1 else 's'}"
    days = round(wait.total_seconds() / 86400)
    return f"in {days} day{'' if days == 1 else 's'}"
