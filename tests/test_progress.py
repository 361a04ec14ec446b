"""The progress file: what is kept, when items are due, and what happens when it cannot be written or read."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lnorm_cli.progress import Answered, Rating, Store, due_first

RATINGS: tuple[Rating, ...] = ("hard", "good")
NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


def answered(key: str = "variance", rating: Rating | None = "good", **more: object) -> Answered:
    outcome = "wrong" if rating == "again" else "right"
    return Answered(key, f"{key}:1", "layernorm", "number", "2", outcome, rating=rating, **more)  # type: ignore[arg-type]


def writer(path: Path) -> str:
    """A program that answers for ever and says each number once it is saved."""
    return f"""
import sys
from pathlib import Path
from lnorm_cli.progress import Answered, Store
store = Store(Path({str(path)!r}))
for number in range(10**6):
    question = f"q{{sys.argv[1]}}-{{number}}"
    store.record(Answered(f"item{{number % 7}}", question, "t", "number", "2", "right", rating="good"))
    if store.notes:
        print("trouble", store.notes, flush=True)
    print(number, flush=True)
"""


def test_nothing_is_created_before_the_first_answer(tmp_path: Path) -> None:
    store = Store(tmp_path / "deep" / "progress.db")
    assert store.scheduled() == {}
    assert store.answers() == []
    assert list(tmp_path.iterdir()) == []
    store.record(answered())
    assert (tmp_path / "deep" / "progress.db").exists()


def test_an_answer_is_there_for_the_next_store(tmp_path: Path) -> None:
    path = tmp_path / "progress.db"
    first = Store(path)
    due = first.record(answered(hints=1, misconceptions=("unbiased-variance",)), NOW)
    second = Store(path)  # the first one is still open
    assert second.scheduled(NOW)["variance"].due == due
    (row,) = second.answers()
    assert (row["key"], row["question"], row["answer"], row["hints"]) == ("variance", "variance:1", "2", 1)
    assert row["misconceptions"] == ["unbiased-variance"]


def test_a_wrong_answer_comes_back_soon_and_right_ones_ever_later(tmp_path: Path) -> None:
    store = Store(tmp_path / "progress.db")
    soon = store.record(answered(rating="again"), NOW)
    assert soon == NOW + timedelta(minutes=10)
    when, gaps = soon, []
    for _ in range(5):
        following = store.record(answered(), when)
        assert following is not None
        gaps.append(following - when)
        when = following
    assert gaps == sorted(gaps)
    assert gaps[0] >= timedelta(days=1)
    assert gaps[-1] > timedelta(days=7)


def test_hard_is_due_before_good(tmp_path: Path) -> None:
    store = Store(tmp_path / "progress.db")
    hard, good = (store.record(answered(rating, rating), NOW) for rating in RATINGS)
    assert hard is not None
    assert good is not None
    assert hard < good


def test_a_second_attempt_is_kept_but_changes_no_schedule(tmp_path: Path) -> None:
    store = Store(tmp_path / "progress.db")
    due = store.record(answered(rating="again"), NOW)
    assert store.record(answered(rating=None, attempt=2), NOW + timedelta(minutes=1)) == due
    assert [row["attempt"] for row in store.answers()] == [1, 2]
    assert store.scheduled(NOW)["variance"].known == 0


def test_due_items_come_longest_overdue_first(tmp_path: Path) -> None:
    store = Store(tmp_path / "progress.db")
    for number, key in enumerate(("c", "a", "b")):
        store.record(answered(key, "again"), NOW + timedelta(minutes=number))
    later = NOW + timedelta(minutes=11, seconds=30)
    assert due_first(store.scheduled(later), later) == ["c", "a"]


def test_text_of_any_kind_is_kept_literally(tmp_path: Path) -> None:
    store = Store(tmp_path / "progress.db")
    for text in ("[a/b]", "[red]", "\x1b[31m", "'; DROP TABLE answers; --", "\ud800", "½√2"):
        store.record(Answered("k", "k:1", "t", "number", text, "wrong", rating="again"))
    assert [row["answer"] for row in store.answers()] == [
        "[a/b]", "[red]", "\x1b[31m", "'; DROP TABLE answers; --", "?", "½√2",
    ]  # fmt: skip
    assert store.notes == []


# Damage (C128: TrenTorch 166, gemini-cli 29307): said, kept, started afresh

DAMAGED = {
    "cut": b'{"score": 3',
    "list": b"[]",
    "nul": b"\0" * 64,
    "long-nul": b"\0" * 9000,
    "two-documents": b'{"score": 3}{"score": 4}',
    "header-only": b"SQLite format 3\0" + b"\xff" * 3000,
    "short": b"x",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_kept_and_said(name: str, tmp_path: Path) -> None:
    path = tmp_path / "progress.db"
    path.write_bytes(DAMAGED[name])
    store = Store(path)
    assert len(store.notes) == 1
    assert str(path) in store.notes[0]
    assert "damaged" in store.notes[0]
    (kept,) = tmp_path.glob("progress.damaged-*.db")
    assert kept.name in store.notes[0]
    assert kept.read_bytes() == DAMAGED[name]
    store.record(answered())
    store.close()
    again = Store(path)
    assert (len(again.answers()), again.notes) == (1, [])


def test_a_database_cut_in_the_middle_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "progress.db"
    store = Store(path)
    for number in range(400):
        store.record(answered(f"item{number}"))
    store.close()
    path.write_bytes(path.read_bytes()[:20_000])
    assert "damaged" in Store(path).notes[0]
    assert len(list(tmp_path.glob("progress.damaged-*.db"))) == 1


@pytest.mark.parametrize(
    "script",
    ["UPDATE cards SET card = '{'", "UPDATE cards SET due = 'soon'", "UPDATE cards SET card = '[]'", "DROP TABLE cards",
     "ALTER TABLE answers DROP COLUMN misconceptions"],
)  # fmt: skip
def test_entries_that_cannot_be_read_are_damage(script: str, tmp_path: Path) -> None:
    path = tmp_path / "progress.db"
    store = Store(path)
    store.record(answered())
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute(script)
    connection.close()
    assert "damaged" in Store(path).notes[0]


ODD = {
    "cards": [
        "due = '0001-01-01T00:00:00+14:00'", "topic = x'ff'", "correct = 'x'", "key = x'00'",
        "card = hex(zeroblob(9999))", "card = replace(card, '1', '[')",
        "card = replace(card, '\"stability\": ', '\"stability\": -')",
    ],
    "answers": [
        "misconceptions = ''", "misconceptions = '0'", "misconceptions = '[1]'", "misconceptions = 7",
        "attempt = x'ff'", "topic = x'fe'", "hints = 'many'", "misconceptions = replace(hex(zeroblob(9999)), 0, '[')",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("table", "change"), [(table, change) for table, all_ in ODD.items() for change in all_])
def test_cells_that_lnorm_never_wrote_are_damage(table: str, change: str, tmp_path: Path) -> None:
    """Nothing is raised, and nothing odd is handed on."""
    path = tmp_path / "progress.db"
    store = Store(path)
    store.record(answered())
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE {table} SET {change}")
    connection.close()
    store = Store(path)
    assert store.answers() == []
    assert store.scheduled() == {}
    assert "damaged" in store.notes[0]
    store.record(answered())
    assert len(store.answers()) == 1


def test_text_that_is_no_utf8_is_read_with_marks(tmp_path: Path) -> None:
    path = tmp_path / "progress.db"
    store = Store(path)
    store.record(answered())
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE answers SET answer = CAST(x'31ff' AS TEXT)")
    connection.close()
    assert [row["answer"] for row in Store(path).answers()] == ["1\ufffd"]


def test_a_database_without_our_tables_holds_no_answers(tmp_path: Path) -> None:
    path = tmp_path / "progress.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE other (cell)")
    connection.close()
    store = Store(path)
    assert store.answers() == []
    store.record(answered())
    assert len(store.answers()) == 1


def test_a_card_that_the_schedule_cannot_take_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "progress.db"
    store = Store(path)
    store.record(answered())
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE cards SET card = json_set(card, '$.difficulty', 'x', '$.last_review', null)")
    connection.close()
    store = Store(path)
    due = store.record(answered())
    assert due is not None
    assert due > datetime.now(UTC)


def test_a_schema_that_is_no_text_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "progress.db"
    store = Store(path)
    store.record(answered())
    store.close()
    path.write_bytes(path.read_bytes().replace(b"NOT NULL", b"NOT NU\xffL", 1))
    assert "damaged" in Store(path).notes[0]


def test_without_saving_a_damaged_file_stays_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "progress.db"
    path.write_bytes(b"[]")
    store = Store(path, save=False)
    store.record(answered())
    assert path.read_bytes() == b"[]"
    assert len(list(tmp_path.iterdir())) == 1


def test_an_empty_file_is_a_fresh_start(tmp_path: Path) -> None:
    path = tmp_path / "progress.db"
    path.touch()
    store = Store(path)
    store.record(answered())
    assert store.notes == []
    assert len(store.answers()) == 1


# Places where nothing can be saved


def test_a_newer_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "progress.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE future (x)")
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = path.read_bytes()
    store = Store(path)
    assert "newer" in store.notes[0]
    assert store.record(answered()) is not None
    assert path.read_bytes() == before
    assert "variance" in store.scheduled()


def test_a_place_that_cannot_be_written_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    said: list[str] = []
    store = Store(tmp_path / "file" / "progress.db", tell=said.append)
    for key in ("a", "b", "c"):
        assert store.record(answered(key)) is not None
    assert len(said) == 1
    assert "progress is not saved" in said[0]
    assert set(store.scheduled()) == {"a", "b", "c"}


def test_a_directory_in_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "progress.db").mkdir()
    store = Store(tmp_path / "progress.db")
    store.record(answered())
    assert "progress is not saved" in store.notes[0]


FULL = """
import resource, sys
from pathlib import Path
from lnorm_cli.progress import Answered, Store
store = Store(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    store.record(Answered("k", f"k:{number}", "t", "number", "2", "right", rating="good"))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
for number in range(200):
    assert store.record(Answered("late", f"late:{number}", "t", "number", "2" * 300, "right", rating="good"))
print(store.notes)
assert "late" in store.scheduled()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a limit on the size of files stands for a full disk")
@pytest.mark.parametrize(("before", "limit"), [(0, 0), (5, 0), (5, 60_000)])
def test_a_full_disk_is_said_and_the_saved_answers_stay(before: int, limit: int, tmp_path: Path) -> None:
    path = tmp_path / "progress.db"
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path), str(before), str(limit)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("progress is not saved") == 1
    if before:
        again = Store(path)
        assert [row["question"] for row in again.answers()][:before] == [f"k:{n}" for n in range(before)]
        assert again.notes == []


# Many at once, and killed


def test_eight_quizzes_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "progress.db"
    program = writer(path).replace("10**6", "12")
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(i)], stdout=subprocess.PIPE, text=True) for i in range(8)
    ]
    for process in running:
        output, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        assert "trouble" not in output
    store = Store(path)
    assert {row["question"] for row in store.answers()} == {f"q{i}-{n}" for i in range(8) for n in range(12)}
    assert len(store.scheduled()) == 7


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
def test_killed_at_any_moment_every_acknowledged_answer_is_there(tmp_path: Path) -> None:
    """A small version; tests/long/quiz_kill.py does it 200 times."""
    path = tmp_path / "progress.db"
    acknowledged: set[str] = set()
    for turn in range(6):
        process = subprocess.Popen(
            [sys.executable, "-c", writer(path), str(turn)], stdout=subprocess.PIPE, text=True, bufsize=1
        )
        assert process.stdout is not None
        acknowledged.add(f"q{turn}-{process.stdout.readline().strip()}")
        time.sleep(0.013 * turn)
        os.kill(process.pid, signal.SIGKILL)
        acknowledged |= {f"q{turn}-{line.strip()}" for line in process.stdout if line.endswith("\n")}
        process.wait()
        process.stdout.close()
    store = Store(path)
    assert store.notes == []
    assert acknowledged <= {row["question"] for row in store.answers()}
    assert len(acknowledged) > 6


def test_reset_forgets_everything(tmp_path: Path) -> None:
    store = Store(tmp_path / "progress.db")
    store.reset()
    assert list(tmp_path.iterdir()) == []
    store.record(answered())
    store.reset()
    assert store.answers() == []
    assert store.scheduled() == {}
    assert Store(tmp_path / "progress.db").scheduled() == {}


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
def test_whole_quizzes_killed_and_eight_at_once() -> None:
    """The long script with a few kills."""
    script = Path(__file__).parent / "long" / "quiz_kill.py"
    done = subprocess.run([sys.executable, script, "4"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" 0 missing") == 3


def test_a_file_where_the_directory_should_be_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x", encoding="utf-8")
    store = Store(tmp_path / "data" / "progress.db")
    store.record(Answered("k", "k:1", "t", "number", "1", "right", rating="good"))
    assert store.notes == [
        f"progress is not saved: {tmp_path / 'data' / 'progress.db'}: there is a file where its directory should be"
    ]
