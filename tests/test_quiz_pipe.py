"""The quiz with answers through a pipe: what is said, what is stored, how it ends."""

import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lnorm_cli import exact
from lnorm_cli.cli.edge import run as run_here
from lnorm_cli.progress import Store
from lnorm_cli.quiz.bank import Bank
from lnorm_cli.quiz.questions import Numbers

PACK = """
[[item]]
id = "half"
topic = "mine"
kind = "number"
prompt = "What is one half? [a/b] [red]"
answer = "1/2"
hints = ["Less than one.", "One over two."]
wrong = [{answer = "2", feedback = "That is the inverse."}]
explain = "layernorm"

[[item]]
id = "pair"
topic = "mine"
kind = "vector"
prompt = "Count to three."
answer = "1 2 3"

[[item]]
id = "told"
topic = "mine"
kind = "recall"
prompt = "Tell."
model = "So it is."
points = ["one point"]

[[item]]
id = "letters"
topic = "mine"
kind = "choice"
prompt = "Pick."
choices = [{text = "good", right = true, feedback = "Yes."}, {text = "bad", feedback = "It is bad."}]

[[item]]
id = "lines"
topic = "mine"
kind = "order"
prompt = "Sort."
lines = ["first", "second"]
why = "One before two."

[[item]]
id = "root"
topic = "mine"
kind = "formula"
prompt = "Write the divisor with var and eps."
answer = "sqrt(var + eps)"
"""
Quiz = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def quiz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Quiz:
    """Runs `lnorm quiz` in this process with lines on its standard input, in a directory of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LNORM_DATA_DIR", str(tmp_path / "data"))

    def run(lines: str | bytes, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        data = lines if isinstance(lines, bytes) else lines.encode()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
            for name, value in env.items():
                patch.setenv(name, value)
            code = run_here(["quiz", *arguments])
        out, err = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, out, err)

    return run


@pytest.fixture
def one(tmp_path: Path, quiz: Quiz) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Asks the item of `PACK` with this id, and nothing else."""

    def ask(id: str, lines: str, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        (block,) = [block for block in PACK.split("[[item]]") if f'id = "{id}"' in block]
        (tmp_path / "one.toml").write_text(f"[[item]]{block}", encoding="utf-8")
        return quiz(lines, "--pack", "one.toml", "--topic", "mine", *arguments, **env)

    return ask


def stored(tmp_path: Path) -> list[tuple[str, str, str, int]]:
    store = Store(tmp_path / "data" / "progress.db")
    found = [(row["key"], row["answer"], row["outcome"], row["attempt"]) for row in store.answers()]
    store.close()
    return found


def test_right(one: Quiz, tmp_path: Path) -> None:
    done = one("half", "1/2\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Right." in done.stdout
    assert "1 answered: 1 right at once." in done.stdout
    assert "What is one half? [a/b] [red]" in done.stdout
    assert "Wanted: exact, or to 4 significant figures." in done.stdout
    assert stored(tmp_path) == [("half", "1/2", "right", 1)]


def test_wrong_with_diagnosis_then_right(one: Quiz, tmp_path: Path) -> None:
    done = one("half", "2\n0.5\n")
    assert "Not right. That is the inverse." in done.stdout
    assert "1 answered: 1 at the second try." in done.stdout
    assert "lnorm explain layernorm" in done.stdout
    assert "due in 10 minutes" in done.stdout
    assert stored(tmp_path) == [("half", "2", "wrong", 1), ("half", "0.5", "right", 2)]


def test_wrong_twice_gets_the_answer(one: Quiz, tmp_path: Path) -> None:
    done = one("half", "7\n8\n9\n")
    assert done.stdout.count("Not right.") == 2
    assert "Answer: 1/2" in done.stdout
    assert "1 not yet" in done.stdout
    assert [row[2] for row in stored(tmp_path)] == ["wrong", "wrong"]


def test_malformed_costs_nothing_and_points(one: Quiz, tmp_path: Path) -> None:
    done = one("half", "1/0\n\n2 +\n[red]\n0,5\n1/2\n")
    assert "  1/0\n   ^\n" in done.stdout
    assert "1 right at once" in done.stdout
    assert stored(tmp_path) == [("half", "1/2", "right", 1)]


def test_hints_are_counted(one: Quiz) -> None:
    done = one("half", "h\nh\nh\n?\n1/2\n")
    assert "Hint: Less than one." in done.stdout
    assert "Hint: One over two." in done.stdout
    assert "No more hints" in done.stdout
    assert "1 right at once, with 2 hints." in done.stdout


def test_steps_end_the_question_and_store_nothing(one: Quiz, tmp_path: Path) -> None:
    done = one("half", "s\n")
    assert "Answer: 1/2" in done.stdout
    assert stored(tmp_path) == []
    assert not (tmp_path / "data").exists()


def test_a_vector(one: Quiz, tmp_path: Path) -> None:
    done = one("pair", "1 2\n1 2 4\n[1, 2, 3]\n")
    assert "3 numbers are wanted, here are 2" in done.stdout
    assert "Entry 3 of 3 is not right." in done.stdout
    assert [row[2] for row in stored(tmp_path)] == ["wrong", "right"]


def test_free_text_is_judged_by_the_learner(one: Quiz, tmp_path: Path) -> None:
    done = one("told", "I say [so]\n7\n2\n")
    assert "A model answer: So it is." in done.stdout
    assert "- one point" in done.stdout
    assert "One number from 1 to 3" in done.stdout
    assert stored(tmp_path) == [("told", "I say [so]", "partly", 1)]


def test_free_text_without_judgement_is_not_stored(one: Quiz, tmp_path: Path) -> None:
    done = one("told", "I say so\n")
    assert done.returncode == 0
    assert stored(tmp_path) == []


def test_choice_order_and_formula(one: Quiz, tmp_path: Path) -> None:
    for letters in ("a\nb\n", "b\na\n"):
        assert "Yes." in one("letters", letters).stdout
    done = one("lines", "ab\nba\n")
    assert "One before two." in done.stdout
    done = one("root", "√(σ + ε\nsqrt(eps+var)\n")
    assert "this bracket is not closed" in done.stdout.lower()
    assert "Right." in done.stdout


@pytest.mark.parametrize("lines", ["", "\n", "\n\n\n", "h\n", "?\n", "1/0\n", "q\n", "quit\n"])
def test_what_was_not_answered_is_neither_graded_nor_stored(lines: str, quiz: Quiz, tmp_path: Path) -> None:
    """C124 (paru 1519, isort 2653)."""
    done = quiz(lines, "--count", "3")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Nothing was answered" in done.stdout
    assert not (tmp_path / "data").exists()


def test_end_of_input_leaves_a_stored_score_alone(one: Quiz, quiz: Quiz, tmp_path: Path) -> None:
    one("half", "1/2\n")
    before = stored(tmp_path)
    assert quiz("", "--count", "3").returncode == 0
    assert stored(tmp_path) == before


def test_end_of_input_after_a_wrong_answer(one: Quiz, tmp_path: Path) -> None:
    done = one("half", "2\n")
    assert done.returncode == 0
    assert "1 left open" in done.stdout
    assert stored(tmp_path) == [("half", "2", "wrong", 1)]


def test_bytes_that_are_no_text_and_very_long_lines(quiz: Quiz) -> None:
    done = quiz(b"\xff\xfe\n\x00\x1b[31m\n" + b"9" * 200_000 + b"\nq\n", "--topic", "layernorm", "--seed", "5")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "\0" not in done.stdout
    assert len(done.stdout) < 20_000


def test_nothing_typed_is_run(quiz: Quiz, tmp_path: Path) -> None:
    """C093 (sympy 10805): a canary, at every kind of question."""
    text = "__import__('pathlib').Path('canary').touch()\n"
    done = quiz(text * 6 + "q\n", "--count", "1", "--topic", "layernorm")
    assert done.returncode == 0
    assert not (tmp_path / "canary").exists()


def test_no_save(one: Quiz, tmp_path: Path) -> None:
    done = one("half", "1/2\n", "--no-save")
    assert "1 right at once" in done.stdout
    assert "Progress was not saved." in done.stdout
    assert not (tmp_path / "data").exists()


def test_the_same_seed_asks_the_same(quiz: Quiz) -> None:
    outputs = [quiz("s\n" * 12, "--seed", "5", "--count", "12", "--no-save").stdout for _ in range(2)]
    assert outputs[0] == outputs[1]
    assert outputs[0] != quiz("s\n" * 12, "--seed", "6", "--count", "12", "--no-save").stdout


def test_due_items_come_first_then_new_ones(one: Quiz, quiz: Quiz, tmp_path: Path) -> None:
    one("half", "2\n")
    file = tmp_path / "data" / "progress.db"
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE cards SET due = ?", ((datetime.now(UTC) - timedelta(days=1)).isoformat(),))
    connection.close()
    (tmp_path / "all.toml").write_text(PACK, encoding="utf-8")
    done = quiz("q\n", "--pack", "all.toml")
    assert "What is one half?" in done.stdout.split(">")[0]
    done = quiz("q\n", "--pack", "all.toml", "--topic", "mine", "--new")
    assert "What is one half?" not in done.stdout


def test_when_nothing_is_due_items_come_ahead(one: Quiz) -> None:
    one("half", "1/2\n")
    done = one("half", "1/2\n")
    assert re.search(r"Nothing is due now, the next item in \d+ days?\.", done.stdout)
    done = one("half", "", "--new")
    assert "nothing new" in done.stdout


def test_topics_of_a_beginner_take_turns(quiz: Quiz) -> None:
    done = quiz("s\n" * 8, "--count", "8", "--no-save", "--seed", "1")
    topics = re.findall(r"^\d of 8  (\w+)$", done.stdout, re.MULTILINE)
    assert topics == ["warmup", "layernorm", "axes", "batchnorm"] * 2


def test_every_question_fits_40_columns_in_ascii(quiz: Quiz) -> None:
    done = quiz("h\n?\ns\n" * 60, "--count", "60", "--no-save", "--ascii", "--seed", "2", COLUMNS="40")
    assert done.returncode == 0
    assert done.stdout.isascii()
    code = re.compile(r"[a-z_]+ ?[=(]|\.\.\.|lnorm ")
    long = [line for line in done.stdout.splitlines() if len(line) > 40 and not code.search(line)]
    assert long == []
    assert "…" not in done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_other_encodings(encoding: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lnorm_cli", "quiz", "--count", "20", "--no-save", "--seed", "3"],
        input="½\nh\ns\n".encode() * 20, capture_output=True, timeout=60,
        env={"PATH": os.environ["PATH"], "PYTHONIOENCODING": encoding},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert "sqrt" in done.stdout.decode(encoding)
    assert "√" not in done.stdout.decode(encoding)


@pytest.mark.parametrize(
    "arguments", [("--count", "0"), ("--seed", "x"), ("--topic", "nonsense"), ("--pack", "none.toml")]
)
def test_usage_errors(arguments: tuple[str, ...], quiz: Quiz) -> None:
    done = quiz("", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert done.stdout == ""


# Trouble with the file


@pytest.mark.parametrize("data", [b'{"score": 3', b"[]", b"\0" * 300, b"{}{}"])
def test_a_damaged_file(data: bytes, one: Quiz, quiz: Quiz, tmp_path: Path) -> None:
    """C128 (TrenTorch 166): which file, why, a copy, a fresh start; compute is not concerned."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "progress.db").write_bytes(data)
    done = one("half", "1/2\n")
    assert done.returncode == 0
    assert "progress.db is damaged" in done.stderr
    assert "Traceback" not in done.stderr
    assert [f.read_bytes() for f in (tmp_path / "data").glob("progress.damaged-*")] == [data]
    assert stored(tmp_path) == [("half", "1/2", "right", 1)]
    assert one("half", "").stderr == ""


def test_a_place_that_cannot_be_written(one: Quiz, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file, not a directory")
    done = one("half", "2\n1/2\n")
    assert done.returncode == 0
    assert done.stderr.count("progress is not saved") == 1
    assert "1 at the second try" in done.stdout


# Progress


def test_progress(one: Quiz, quiz: Quiz, tmp_path: Path) -> None:
    assert "Nothing has been answered yet" in quiz("", "progress").stdout
    assert quiz("", "progress", "--path").stdout.strip() == str(tmp_path / "data" / "progress.db")
    assert not (tmp_path / "data").exists()
    one("half", "2\n1/2\n")
    one("letters", "a\nb\n")
    done = quiz("", "progress", "--pack", "one.toml")
    assert re.search(r"mine\s+1/1\s+0\s+\d/2\s+\d+%", done.stdout)
    document = json.loads(quiz("", "progress", "--export", "json").stdout)
    assert (document["schema"], document["kind"]) == ("lnorm/quiz/1", "progress")
    assert [a["answer"] for a in document["answers"]][:2] == ["2", "1/2"]
    assert {item["key"] for item in document["items"]} == {"half", "letters"}


def test_misconceptions_are_counted(quiz: Quiz, tmp_path: Path) -> None:
    """A quiz of one generator, answered with the unbiased variance."""
    answer = Bank().question("variance:1").answer
    assert isinstance(answer, Numbers)
    wrong = exact.text(answer.wrong[0].value[0])
    (tmp_path / "one.toml").write_text(
        '[[item]]\nid = "v"\ntopic = "mine"\nkind = "number"\nprompt = "?"\n'
        'compute = {x = "9 3 1 3", step = "variance", index = 0}\n',
        encoding="utf-8",
    )
    quiz(f"{wrong}\n{wrong}\n", "--pack", "one.toml", "--topic", "mine")
    document = json.loads(quiz("", "progress", "--json").stdout)
    assert document["misconceptions"] == [{"id": "unbiased-variance", "count": 2}]
    assert "2 x unbiased-variance: The sum of squares" in quiz("", "progress", "--pack", "one.toml").stdout.replace(
        "\n", " "
    )


@pytest.mark.parametrize(("word", "left"), [("yes", 0), ("y", 0), ("no", 1), ("", 1), ("maybe", 1)])
def test_reset_asks_first(word: str, left: int, one: Quiz, quiz: Quiz, tmp_path: Path) -> None:
    one("half", "1/2\n")
    done = quiz(f"{word}\n" if word else "", "progress", "--reset")
    assert done.returncode == 0
    assert "Forget all 1 answers?" in done.stdout
    assert len(stored(tmp_path)) == left


# Pipes and signals


def test_a_closed_pipe_is_silent(tmp_path: Path) -> None:
    """C122: nobody reads any more."""
    done = subprocess.run(
        f"yes s | {sys.executable} -m lnorm_cli quiz --count 300 --no-save | head -1",
        shell=True, capture_output=True, text=True, timeout=60,
        env={**os.environ, "LNORM_DATA_DIR": str(tmp_path / "data")},
    )  # fmt: skip
    assert done.stdout.startswith("1 of ")
    assert done.stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_while_a_pipe_is_silent_keeps_the_answers(tmp_path: Path) -> None:
    """C126 (memoripy 12)."""
    (tmp_path / "all.toml").write_text(PACK, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "lnorm_cli", "quiz", "--pack", str(tmp_path / "all.toml"), "--topic", "mine",
         "--seed", "6"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "LNORM_DATA_DIR": str(tmp_path / "data"), "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(b"a\n1 2 3\n")
    process.stdin.flush()
    end = time.monotonic() + 20
    while not (tmp_path / "data" / "progress.db").exists() and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert errors == b""
    assert stored(tmp_path)


def test_a_very_long_answer_is_not_repeated_whole(quiz: Quiz) -> None:
    Path("mine.toml").write_text(PACK, encoding="utf-8")
    done = quiz("x" * 900 + "\n", "--pack", "mine.toml", "--topic", "mine", "--seed", "2", "--count", "1")
    assert "Unknown name 'xxx" in " ".join(done.stdout.split())
    assert max(map(len, done.stdout.splitlines())) <= 140


def test_a_free_answer_judged_in_part_is_not_called_right(quiz: Quiz) -> None:
    Path("told.toml").write_text(
        '[[item]]\nid = "told"\ntopic = "mine"\nkind = "recall"\nprompt = "Tell."\nmodel = "m"\n', encoding="utf-8"
    )
    done = quiz("so\n2\n", "--pack", "told.toml", "--topic", "mine")
    assert "1 answered: 1 in part." in done.stdout


# Help


@pytest.mark.parametrize("command", [(), ("worksheet",), ("grade",), ("progress",), ("export",)])
def test_help_is_ascii_and_shows_examples(command: tuple[str, ...], quiz: Quiz) -> None:
    done = quiz("", *command, "-h")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "Examples:" in done.stdout


def test_a_mistyped_command_is_suggested(quiz: Quiz) -> None:
    done = quiz("", "worksheat")
    assert done.returncode == 2
    assert "did you mean worksheet?" in done.stderr
