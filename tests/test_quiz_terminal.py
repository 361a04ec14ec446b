"""The quiz on a real terminal: pexpect types, pyte draws the screen that a person sees."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lnorm_cli.progress import Store

pexpect = pytest.importorskip("pexpect")
pyte = pytest.importorskip("pyte")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

NUMBER = """
[[item]]
id = "half"
topic = "mine"
kind = "number"
prompt = "Which variance does LayerNorm use for 1 3 3 9?"
compute = {x = "1 3 3 9", step = "variance", index = 0}
hints = ["Find the mean first.", "Divide by n."]
explain = "layernorm"
"""
RECALL = """
[[item]]
id = "told"
topic = "mine"
kind = "recall"
prompt = "Tell."
model = "So it is."
points = ["one point"]
"""
ORDER = """
[[item]]
id = "lines"
topic = "mine"
kind = "order"
prompt = "Sort."
lines = ["first", "second"]
"""


class Screen:
    """A quiz on a terminal of a given size, and what stands on it."""

    def __init__(self, directory: Path, arguments: list[str], columns: int = 60, lines: int = 40, **env: str) -> None:
        clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")}
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "lnorm_cli", "quiz", *arguments],
            dimensions=(lines, columns),
            cwd=str(directory),
            env={**clean, "LNORM_DATA_DIR": str(directory / "data"), "TERM": "xterm", "LANG": "C.UTF-8", **env},
            timeout=30,
        )
        self.raw = b""
        self.screen = pyte.HistoryScreen(columns, lines, history=2000)
        self.stream = pyte.ByteStream(self.screen)

    def until(self, text: str) -> str:
        """Read until the text stands on the screen; returns all of it."""
        end = time.monotonic() + 20
        while text not in self.text:
            assert time.monotonic() < end, f"{text!r} never came:\n{self.text}"
            self._read()
        return self.text

    def type(self, text: str) -> None:
        """Type a line, once a prompt waits for it."""
        self.prompt()
        self.child.sendline(text)
        self.until_moved()

    def prompt(self) -> None:
        end = time.monotonic() + 20
        while not self.text.rstrip("\n").endswith(">"):
            assert time.monotonic() < end, f"no prompt:\n{self.text}"
            self._read()

    def until_moved(self) -> None:
        before = len(self.raw)
        end = time.monotonic() + 20
        while len(self.raw) == before and self._read() and time.monotonic() < end:
            pass
        time.sleep(0.05)

    def _read(self) -> bool:
        try:
            data = self.child.read_nonblocking(65536, timeout=0.2)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.raw += data
        self.stream.feed(data)
        return True

    @property
    def text(self) -> str:
        top = ["".join(line[x].data for x in range(self.screen.columns)) for line in self.screen.history.top]
        return "\n".join(line.rstrip() for line in [*top, *self.screen.display]).rstrip()

    def ended(self) -> int:
        """Read to the end; the exit code."""
        end = time.monotonic() + 20
        while self._read():
            assert time.monotonic() < end, f"it does not end:\n{self.text}"
        self.child.wait()
        status: Any = self.child.exitstatus
        return -1 if status is None else int(status)


Open = Callable[..., Screen]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens a quiz on one item of our own."""
    running: list[Screen] = []

    def start(pack: str = NUMBER, *arguments: str, **options: Any) -> Screen:
        (tmp_path / "one.toml").write_text(pack, encoding="utf-8")
        running.append(Screen(tmp_path, ["--pack", "one.toml", "--topic", "mine", *arguments], **options))
        return running[-1]

    yield start
    for screen in running:
        screen.child.close(force=True)


def stored(tmp_path: Path) -> list[tuple[str, str]]:
    store = Store(tmp_path / "data" / "progress.db")
    found = [(row["answer"], row["outcome"]) for row in store.answers()]
    store.close()
    return found


def test_a_whole_quiz(opened: Open, tmp_path: Path) -> None:
    """Malformed, hint, wrong with its diagnosis, retry, right, summary."""
    quiz = opened()
    assert "h hint, s steps, q leave, ? help" in quiz.until(">")
    quiz.type("2 +")
    quiz.until("The expression ends too early")
    lines = quiz.text.splitlines()
    caret = next(i for i, line in enumerate(lines) if line.strip() == "^")
    assert lines[caret].index("^") == lines[caret - 1].index("+") + 1, "the caret stands at the end, after +"
    quiz.type("h")
    quiz.until("Hint: Find the mean first.")
    quiz.type("12")
    quiz.until("Once more:")
    assert "Not right. The sum of squares was divided by n - 1." in quiz.text.replace("\n", " ")
    quiz.type("9")
    assert quiz.ended() == 0
    assert "Right." in quiz.text
    assert "1 answered: 1 at the second try, with 1 hint." in quiz.text
    assert "Read:  lnorm explain layernorm" in quiz.text
    assert "due in 10 minutes" in quiz.text
    assert stored(tmp_path) == [("12", "wrong"), ("9", "right")]
    assert b"\x1b[" in quiz.raw, "colour on a terminal"


def test_wrong_twice_shows_the_steps_of_compute(opened: Open) -> None:
    quiz = opened(columns=80)
    quiz.type("7")
    quiz.type("7")
    assert quiz.ended() == 0
    assert "Σ(x - μ)²/n" in quiz.text
    assert "(9 + 1 + 1 + 25)/4" in quiz.text
    assert "Answer: 9" in quiz.text


def test_leaving_and_coming_back(opened: Open, tmp_path: Path) -> None:
    """What was answered is saved, and the next quiz goes on with what was not."""
    prompts = {"Which variance": "12", "Sort.": "ab"}
    first = opened(NUMBER + ORDER)
    first.prompt()
    (asked,) = [prompt for prompt in prompts if prompt in first.text]
    first.type(prompts[asked])
    first.until("Once more:")
    first.type("q")
    assert first.ended() == 0
    assert "1 left open" in first.text
    assert stored(tmp_path) == [(prompts[asked], "wrong")]
    again = opened(NUMBER + ORDER)
    again.prompt()
    (other,) = [prompt for prompt in prompts if prompt in again.text]
    assert other != asked
    again.type("q")
    assert again.ended() == 0


def test_steps_on_request(opened: Open, tmp_path: Path) -> None:
    quiz = opened()
    quiz.type("s")
    assert quiz.ended() == 0
    assert "Answer: 9" in quiz.text
    assert not (tmp_path / "data").exists()


def test_ctrl_d_ends_cleanly(opened: Open) -> None:
    quiz = opened()
    quiz.prompt()
    quiz.child.sendeof()
    assert quiz.ended() == 0
    assert "Nothing was answered" in quiz.text


def test_no_color_and_40_columns(opened: Open) -> None:
    quiz = opened(columns=40, NO_COLOR="1")
    quiz.type("12")
    quiz.type("12")
    assert quiz.ended() == 0
    assert b"\x1b[3" not in quiz.raw
    assert b"\x1b[1" not in quiz.raw
    assert "Answer: 9" in quiz.text


# Ctrl-C at every prompt: 130, silent, nothing lost


def interrupt(quiz: Screen) -> None:
    quiz.prompt()
    quiz.child.sendintr()
    assert quiz.ended() == 130
    assert "Traceback" not in quiz.text
    assert "rror" not in quiz.text


def test_ctrl_c_at_the_first_prompt(opened: Open, tmp_path: Path) -> None:
    interrupt(opened())
    assert not (tmp_path / "data").exists()


def test_ctrl_c_after_a_hint_and_a_malformed_answer(opened: Open, tmp_path: Path) -> None:
    quiz = opened()
    quiz.type("h")
    quiz.type("1/0")
    interrupt(quiz)
    assert not (tmp_path / "data").exists()


def test_ctrl_c_at_the_retry(opened: Open, tmp_path: Path) -> None:
    quiz = opened()
    quiz.type("12")
    quiz.until("Once more:")
    interrupt(quiz)
    assert stored(tmp_path) == [("12", "wrong")]


def test_ctrl_c_in_the_middle_of_a_line(opened: Open, tmp_path: Path) -> None:
    quiz = opened()
    quiz.prompt()
    quiz.child.send("12")
    quiz.until("> 12")
    quiz.child.sendintr()
    assert quiz.ended() == 130
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("judging", [False, True])
def test_ctrl_c_at_free_text(judging: bool, opened: Open, tmp_path: Path) -> None:
    quiz = opened(RECALL)
    if judging:
        quiz.type("so")
        quiz.until("1-3>")
    interrupt(quiz)
    assert not (tmp_path / "data").exists()


def test_ctrl_c_at_the_second_question_keeps_the_first(opened: Open, tmp_path: Path) -> None:
    quiz = opened(ORDER + ORDER.replace('"lines"', '"more"'))
    quiz.type("ba")
    quiz.until("2 of 2")
    interrupt(quiz)
    assert stored(tmp_path) == [("ba", "right")]


def test_ctrl_c_when_asked_about_a_reset(opened: Open, tmp_path: Path) -> None:
    quiz = opened()
    quiz.type("9")
    assert quiz.ended() == 0
    reset = Screen(tmp_path, ["progress", "--reset"])
    try:
        reset.until("yes or no>")
        interrupt(reset)
    finally:
        reset.child.close(force=True)
    assert stored(tmp_path) == [("9", "right")]


def test_ctrl_c_the_moment_the_prompt_appears(opened: Open) -> None:
    """Sent with the prompt's last character, again and again: never lost between the prompt and the wait."""
    for _ in range(4):
        quiz = opened()
        while not quiz.raw.endswith(b"> "):
            quiz._read()
        quiz.child.sendintr()
        assert quiz.ended() == 130
        quiz.child.close(force=True)
