"""Damaged files of every kind that lnorm reads: none may crash, hang, take much memory, or end with a wrong exit code.

    python tests/long/fuzz_files.py [--count 700000] [--seed 1] [--start 0] [--seconds 2] [--workers 1]

Each input starts from a sound file (seeds.py), is damaged byte by byte (damage.py) and read by a command: x, gamma,
beta, upstream gradients and answers from json, csv, txt, npy and npz; item packs; students' answers; the progress
file. Most arrays are read by the reader alone, without a command ("reader" in the counts). Some files are left whole,
and must then be taken. How an input is judged stands in harness.py. A folder in memory (TMPDIR=/dev/shm) makes it
quicker.
"""

from __future__ import annotations

import random
import sqlite3
import sys
from functools import cache, partial
from pathlib import Path

import damage
import seeds
from harness import Case, main, shown_bytes

WHOLE = 0.02
"""The share of files that are not damaged."""

ALONE = 0.85
"""The share of array files that only the reader reads: the commands around it have their own scripts."""

KINDS = {"x": 75, "parameter": 15, "given": 1, "pack": 3, "answers": 4, "progress": 2}
"""Of a hundred inputs, so many are of each kind."""

ANSWERS = b"h\nhalf\na\n1\nb\n1 2\n3\nacbd\ngamma*z\nx\nq\n"

COLUMNS = {
    "cards": ("key", "topic", "due", "correct", "card"),
    "answers": ("id", "at", "key", "topic", "kind", "attempt", "answer", "outcome", "hints", "misconceptions"),
}
CELLS: list[object] = [
    "", "x", "null", "[]", "{}", "[1]", '"x"', "[[1]]", "[null]", "{\"a\": 1}", "[" * 3000, "nan", b"\xff\xfe", b"", 0,
    -1, 2**62, 1e308, "9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00",
    "2024-05-01", "2024-05-01T00:00:00", "\x00", "\x1b[31m", "[/]", "\u0663", "wrong", "mean", "a" * 5000,
]  # fmt: skip


@cache
def binary() -> tuple[list[bytes], list[bytes], dict[str, bytes]]:
    """The sound .npy and .npz files, and the members of an archive."""
    return seeds.arrays(), *seeds.archives()


def array_file(draw: random.Random) -> tuple[bytes, str, bool]:
    """A file that holds an array, the ending of its name, and whether it is damaged."""
    arrays, archives, members = binary()
    kind = draw.choice((".json", ".csv", ".txt", ".npy", ".npy", ".npz"))
    pool = {".json": seeds.JSON, ".csv": seeds.TABLES, ".txt": seeds.TABLES, ".npy": arrays, ".npz": archives}[kind]
    data = draw.choice(pool)
    if draw.random() < WHOLE:
        return data, kind, False
    way = draw.random()
    if kind == ".npy" and way < 0.4:
        data = damage.npy(draw, data[128:])
    elif kind == ".npz" and way < 0.6:
        data = damage.npz(draw, members, arrays)
    else:
        data = damage.mutated(draw, data, pool if draw.random() < 0.9 else arrays)
    if draw.random() < 0.03:
        kind = draw.choice((".json", ".csv", ".npy", ".npz", ".dat", "", ".tsv"))
    return data, kind, True


def options(draw: random.Random) -> list[str]:
    """Options of compute: mostly those that are quick to write, because what is read matters here."""
    made = draw.choice((["--json", "--no-exact"],) * 8 + (["--json"], ["-f", "csv"], ["-f", "text"], ["-f", "latex"]))
    if draw.random() < 0.2:
        made = [*made, "--norm", draw.choice(("rms", "batch"))]
    if draw.random() < 0.1:
        made = [*made, "--axis", draw.choice(("0", "-1", "0,1"))]
    return made + (["--dtype", draw.choice(("float32", "float16", "bfloat16"))] if draw.random() < 0.1 else [])


def read_alone(name: str, data: bytes, codes: tuple[int, ...] = (0, 2), finite: bool = True) -> Case:
    """The reader of arrays called by itself."""
    from lnorm_cli.reading import read_arrays

    reader = partial(read_arrays, name, finite=finite)
    return Case(
        ["(read_arrays)", name], codes, kind=f"reader {Path(name).suffix}", shown=shown_bytes(data), read=reader
    )


def read_as_x(draw: random.Random) -> Case:
    data, ending, damaged = array_file(draw)
    Path(f"x{ending}").write_bytes(data)
    if draw.random() < ALONE:
        return read_alone(f"x{ending}", data, (0, 2) if damaged else (0,), finite=draw.random() < 0.7)
    if draw.random() < 0.06:
        given = ["diagnose", "-i", f"x{ending}", "--given", "0,1,2", "--json"]
        return Case(given, (0, 1, 2), kind=f"x {ending}", shown=shown_bytes(data))
    codes = (0, 2) if damaged else (0,)
    if draw.random() < 0.1 and ending != ".npz":
        return Case(["compute", "-", *options(draw)], (0, 2), data, "x -", shown_bytes(data))
    made = options(draw) if damaged else ["--json"]
    return Case(["compute", "-i", f"x{ending}", *made], codes, kind=f"x {ending}", shown=shown_bytes(data))


def read_as_parameter(draw: random.Random) -> Case:
    data, ending, _ = array_file(draw)
    if draw.random() < 0.4:
        data, ending = damage.mutated(draw, draw.choice(seeds.PARAMETERS), seeds.PARAMETERS), ".txt"
    Path(f"p{ending}").write_bytes(data)
    if draw.random() < ALONE:
        return read_alone(f"p{ending}", data)
    name = draw.choice(("--gamma", "--gamma", "--beta", "--beta", "--backward"))
    arguments = ["compute", "1", "2", "4", name, f"@p{ending}", "--json", "--no-exact"]
    return Case(arguments, kind=f"{name} {ending}", shown=shown_bytes(data))


def read_as_given(draw: random.Random) -> Case:
    data, ending, _ = array_file(draw)
    x = "[[1,2,4],[3,5,9]]"
    if draw.random() < 0.5:
        data, ending = damage.mutated(draw, draw.choice(seeds.GIVEN), seeds.GIVEN), draw.choice((".txt", ".json"))
        x = "2,4,4,6"
    Path(f"y{ending}").write_bytes(data)
    more = ["--given", f"y{ending}"] if draw.random() < 0.85 else ["--residual", f"@y{ending}", "--given", x]
    return Case(["diagnose", x, *more, "--json"], (0, 1, 2), kind=f"given {ending}", shown=shown_bytes(data))


def read_as_pack(draw: random.Random) -> Case:
    chosen = draw.sample(seeds.PACK, draw.choice((1, 1, 2, 3)))
    damaged = draw.random() >= WHOLE
    data = b"\n".join(chosen)
    Path("pack.toml").write_bytes(damage.mutated(draw, data, seeds.PACK) if damaged else data)
    shown = shown_bytes(Path("pack.toml").read_bytes())
    mine = ["--pack", "pack.toml", "--topic", "mine", "--seed", str(draw.randrange(9))]
    codes = (0, 2) if damaged else (0,)
    way = draw.random()
    if way < 0.45:
        form = draw.choice(("markdown", "latex", "json"))
        return Case(["quiz", "worksheet", *mine, "--count", "3", "-f", form], codes, kind="pack", shown=shown)
    if way < 0.55:
        return Case(["quiz", "export", "--anki", "cards.txt", *mine], codes, kind="pack", shown=shown)
    return Case(["quiz", *mine, "--no-save", "--count", "3"], codes, ANSWERS, "pack", shown)


def read_as_answers(draw: random.Random) -> Case:
    pool, ending = draw.choice(((seeds.ANSWERS_CSV, ".csv"), (seeds.ANSWERS_JSON, ".json")))
    damaged = draw.random() >= WHOLE
    data = draw.choice(pool)
    data = damage.mutated(draw, data, pool) if damaged else data
    Path(f"answers{ending}").write_bytes(data)
    arguments = ["quiz", "grade", f"answers{ending}"]
    arguments += ["--pack", "sound.toml"] if b"course-" in data or draw.random() < 0.05 else []
    passing = draw.random() < 0.3
    arguments += [*(["--json"] if draw.random() < 0.8 else []), *(["--pass", "50"] if passing else [])]
    codes = ((0, 1) if passing else (0,)) + ((2,) if damaged else ())
    return Case(arguments, codes, kind=f"answers {ending}", shown=shown_bytes(data))


def read_as_progress(draw: random.Random) -> Case:
    """The progress file: bytes changed anywhere, a journal changed, or odd cells in a sound database."""
    folder, way, shown = Path("data"), draw.random(), ""
    for left in folder.iterdir():
        left.unlink()
    file = folder / "progress.db"
    if way < 0.45:
        file.write_bytes(damage.mutated(draw, _KEPT["whole"], [_KEPT["whole"]]))
    elif way < 0.6:
        file.write_bytes(_KEPT["progress.db"])
        journal = damage.mutated(draw, _KEPT["progress.db-wal"], [_KEPT["progress.db-wal"]])
        (folder / "progress.db-wal").write_bytes(journal)
    else:
        file.write_bytes(_KEPT["whole"])
        shown = "; ".join(odd_cell(draw, file) for _ in range(draw.choice((1, 1, 2))))
    asked = ["--count", "2", "--seed", str(draw.randrange(99)), "--topic", "warmup"]
    arguments = draw.choice((["progress"], ["progress", "--json"], asked))
    return Case(["quiz", *arguments], (0,), b"a\n1\nb\n2\n", "progress", shown)


def odd_cell(draw: random.Random, file: Path) -> str:
    """Write something odd into a cell, and tell what was done."""
    table = draw.choice(list(COLUMNS))
    column, value = draw.choice(COLUMNS[table]), draw.choice(CELLS)
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    try:
        if column == "card" and draw.random() < 0.7:
            row = connection.execute("SELECT rowid, card FROM cards LIMIT 1").fetchone()
            value = damage.mutated(draw, bytes(row[1], "utf-8")).decode("utf-8", "replace")
        which = draw.choice(("1", "rowid = 1", "rowid = 2"))
        connection.execute(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {which}", (value,))
    except (sqlite3.Error, TypeError) as error:  # not every cell takes every value
        return f"{table}.{column}: {error}"
    finally:
        connection.close()
    return f"{table}.{column} = {value!r} where {which}"


_READERS = {
    "x": read_as_x,
    "parameter": read_as_parameter,
    "given": read_as_given,
    "pack": read_as_pack,
    "answers": read_as_answers,
    "progress": read_as_progress,
}
_KEPT: dict[str, bytes] = {}


def drawn(draw: random.Random) -> Case:
    """One damaged file, written, and a command that reads it."""
    return _READERS[draw.choices(list(KINDS), list(KINDS.values()))[0]](draw)


def prepare(folder: Path) -> None:
    """The files that inputs start from."""
    (folder / "sound.toml").write_bytes(b"\n".join(seeds.PACK))
    (folder / "data").mkdir()
    _KEPT["whole"], opened = seeds.progress(folder / "data")
    _KEPT.update(opened)
    binary()


if __name__ == "__main__":
    sys.exit(main(__doc__, "files", 700_000, drawn, prepare))
