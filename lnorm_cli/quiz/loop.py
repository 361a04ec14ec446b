"""The interactive quiz: one question at a time, every answer saved before it is judged aloud."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from lnorm_cli.errors import InputError
from lnorm_cli.progress import Answered, Rating, Store
from lnorm_cli.quiz.asking import EndOfInput, Prompter
from lnorm_cli.quiz.grading import Grade, grade
from lnorm_cli.quiz.questions import Choice, Order, Question, Recall, letter
from lnorm_cli.quiz.session import Plan
from lnorm_cli.quiz.steps import answer_text, reason, write_work
from lnorm_cli.render.terminal import Style, Terminal, visible
from lnorm_cli.render.text import TextWriter

HELP = "h hint, s steps, q leave, ? help"
ATTEMPTS = 2


PATIENCE = 200
"""Lines that a pipe may spend on one question: an endless one would never end the quiz."""


class Leave(Exception):  # noqa: N818
    """The learner has had enough."""


class Shown(Exception):  # noqa: N818
    """The learner has asked for the steps: the question is over, and nothing of it is stored."""


@dataclass
class Tally:
    """What a session came to."""

    asked: int = 0
    first: int = 0
    second: int = 0
    partly: int = 0
    wrong: int = 0
    shown: int = 0
    hints: int = 0
    to_read: list[str] = field(default_factory=list)
    due: list[datetime] = field(default_factory=list)


class Loop:
    """One session at a terminal or through a pipe."""

    def __init__(self, terminal: Terminal, store: Store, prompter: Prompter | None = None) -> None:
        self.terminal = terminal
        self.store = store
        self.prompter = prompter or Prompter()
        self.tally = Tally()
        self.hints_given = 0
        self.lines = 0

    def run(self, plan: Plan) -> Tally:
        """Ask everything that is planned, until the learner leaves or the input ends."""
        try:
            for number, planned in enumerate(plan.asked, start=1):
                self._ask(planned.question(), number, len(plan.asked))
        except (Leave, EndOfInput):
            pass
        return self.tally

    def _ask(self, question: Question, number: int, count: int) -> None:
        self.hints_given = self.lines = 0
        self._show(question, number, count)
        try:
            if isinstance(question.answer, Recall):
                self._recall(question, question.answer)
            else:
                self._attempts(question)
        except Shown:
            self.tally.shown += 1
            self._solution(question)
        self.terminal.blank()

    def _show(self, question: Question, number: int, count: int) -> None:
        t = self.terminal
        t.line((f"{number} of {count}", "label"), (f"  {question.topic}", "dim"))
        t.paragraph(question.prompt)
        width = max((len(name) for name, _ in question.given), default=0)
        for name, value in question.given:
            t.paragraph(value, indent=2, first=f"{name.ljust(width)}  ", hang=width + 2)
        for place, text in enumerate(_lettered(question)):
            t.paragraph(text, indent=2, first=f"{letter(place)}) ", hang=3)
        t.paragraph(f"Wanted: {question.rule}.", style="dim")
        if number == 1:
            t.paragraph(HELP, style="dim")

    def _next_line(self, prompt: str = "> ") -> str:
        """The next line; of a pipe that never answers no more than `PATIENCE` for one question."""
        self.lines += 1
        if self.lines > PATIENCE and not self.prompter.at_terminal:
            self.terminal.paragraph(f"{PATIENCE} lines and no answer: that is enough.")
            raise EndOfInput
        return self.prompter.ask(prompt)

    def _line(self, question: Question) -> str:
        """A line that is an answer; commands and empty lines are dealt with here."""
        while True:
            text = self._next_line()
            command = text.strip().lower()
            if command in ("q", "quit", "exit"):
                raise Leave
            if command in ("s", "steps"):
                raise Shown
            if command in ("h", "hint"):
                self._hint(question)
            elif command in ("?", "help"):
                self._help(question)
            elif not command:
                self.terminal.paragraph(f"Wanted: {question.rule}. {HELP}.", style="dim")
            else:
                return text

    def _hint(self, question: Question) -> None:
        if self.hints_given < len(question.hints):
            self.terminal.paragraph(question.hints[self.hints_given], first="Hint: ", indent=2, hang=6)
            self.hints_given += 1
            self.tally.hints += 1
        else:
            self.terminal.paragraph("No more hints; s shows the steps.", indent=2)

    def _help(self, question: Question) -> None:
        for key, meaning in (
            ("h", f"the next hint ({len(question.hints) - self.hints_given} left)"),
            ("s", "the worked steps; the question then does not count"),
            ("q", "leave; what was answered is saved"),
        ):
            self.terminal.paragraph(meaning, first=f"{key}  ", indent=2, hang=3)
        self.terminal.paragraph(
            f"Wanted: {question.rule}. Numbers may be written 2, -0.5, 1/3, sqrt(2) or 2sqrt(3)/3.", indent=2
        )

    def _attempts(self, question: Question) -> None:
        attempt = 1
        while True:
            text = self._line(question)
            verdict = grade(question, text)
            if verdict.outcome == "malformed":
                self._point(verdict.error, text)
            elif verdict.outcome in ("short", "undecided"):
                self.terminal.paragraph(verdict.message)
            else:
                self._save(question, text, verdict, attempt)
                if self._judged(question, verdict, attempt):
                    return
                attempt += 1

    def _judged(self, question: Question, verdict: Grade, attempt: int) -> bool:
        """Say what became of the answer; whether the question is over."""
        if attempt == 1:
            self.tally.asked += 1
        if verdict.good:
            if attempt == 1:
                self.tally.first += 1
            else:
                self.tally.second += 1
            self._say("Right.", "good", verdict.message.removeprefix("Right, but "))
            return True
        if attempt == 1 and question.explain and question.explain not in self.tally.to_read:
            self.tally.to_read.append(question.explain)
        more = attempt < ATTEMPTS and self.hints_given < len(question.hints)
        hint = "h gives a hint." if more and not verdict.message else ""
        self._say("Not right.", "bad", verdict.message or hint)
        if attempt < ATTEMPTS:
            self.terminal.paragraph("Once more:")
            return False
        self.tally.wrong += 1
        self._solution(question)
        return True

    def _say(self, verdict: str, style: Style, message: str) -> None:
        """The verdict in colour, and what there is to say about it."""
        lines = self.terminal.wrapped(f"{verdict} {message}".strip())
        self.terminal.line((lines[0][: len(verdict)], style), lines[0][len(verdict) :])
        for line in lines[1:]:
            self.terminal.line(line)

    def _solution(self, question: Question) -> None:
        t = self.terminal
        write_work(question.work, TextWriter(t), self._said)
        if question.work:
            t.blank()
        if isinstance(question.answer, Order):
            for place in question.answer.right:
                t.paragraph(question.answer.lines[place], indent=2, hang=2)
        else:
            t.paragraph(answer_text(question, t.notation), first="Answer: ", hang=8)
        if reason(question):
            t.paragraph(reason(question))
        if isinstance(question.answer, Recall):
            self._points(question.answer)

    def _said(self, text: str) -> None:
        self.terminal.blank()
        self.terminal.paragraph(text, indent=1)

    def _recall(self, question: Question, answer: Recall) -> None:
        """Free text: the model answer is shown, and the learner judges."""
        text = self._line(question)
        self.terminal.paragraph(answer.model, first="A model answer: ", hang=2)
        self._points(answer)
        self.terminal.paragraph("How was yours? 1 not there, 2 in part, 3 all there")
        while True:
            word = self._next_line("1-3> ").strip().lower()
            if word in ("q", "quit", "exit"):
                raise Leave
            if word in ("1", "2", "3"):
                break
            self.terminal.paragraph("One number from 1 to 3; q leaves.", style="dim")
        outcome = {"1": "wrong", "2": "rounded", "3": "right"}[word]
        rating: Rating = "again" if word == "1" else "hard" if word == "2" or self.hints_given else "good"
        self._record(question, text, "partly" if word == "2" else outcome, 1, (), rating)
        self.tally.asked += 1
        if word == "1":
            self.tally.wrong += 1
            if question.explain and question.explain not in self.tally.to_read:
                self.tally.to_read.append(question.explain)
        elif word == "2":
            self.tally.partly += 1
        else:
            self.tally.first += 1

    def _points(self, answer: Recall) -> None:
        for point in answer.points:
            self.terminal.paragraph(point, first="- ", indent=2, hang=2)

    def _point(self, error: InputError | None, text: str) -> None:
        """A malformed answer: the place, what is wrong there, how to mend it. It costs nothing."""
        t = self.terminal
        if error is None:
            return
        if error.text and error.position is not None:
            width = t.width - 4
            start = max(0, min(error.position - width // 2, len(error.text) - width))
            flat = "".join(c if c.isprintable() and c.isascii() else "?" for c in error.text)
            t.line(flat[start : start + width], indent=2)
            t.line(("^", "warn"), indent=2 + error.position - start)
        t.paragraph(f"{_sentence(_shortened(error.what))} {_sentence(error.hint)}".strip())

    def _save(self, question: Question, text: str, verdict: Grade, attempt: int) -> None:
        rating: Rating | None = None
        if attempt == 1:
            rating = ("hard" if self.hints_given else "good") if verdict.good else "again"
        self._record(question, text, verdict.outcome, attempt, verdict.misconceptions, rating)

    def _record(
        self,
        question: Question,
        text: str,
        outcome: str,
        attempt: int,
        misconceptions: tuple[str, ...],
        rating: Rating | None,
    ) -> None:
        answered = Answered(
            key=question.key,
            question=question.id,
            topic=question.topic,
            kind=question.kind,
            answer=text.strip(),
            outcome=outcome,
            attempt=attempt,
            hints=self.hints_given,
            misconceptions=misconceptions if outcome == "wrong" else (),
            rating=rating,
        )
        due = self.store.record(answered, datetime.now(UTC))
        if due is not None and rating is not None:
            self.tally.due.append(due)


def _shortened(text: str, most: int = 120) -> str:
    """A message without the middle of a very long answer that it repeats."""
    return text if len(text) <= most else f"{text[: most - 40]}...{text[-20:]}"


def _sentence(text: str) -> str:
    """A message of an error as a sentence of its own."""
    shown = visible(text)
    return shown[:1].upper() + shown[1:] + ("" if shown.endswith((".", "?", "!")) or not shown else ".")


def _lettered(question: Question) -> list[str]:
    answer = question.answer
    if isinstance(answer, Choice):
        return [option.text for option in answer.options]
    return list(answer.lines) if isinstance(answer, Order) else []
