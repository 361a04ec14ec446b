"""Break the code in one small way after another and count how many of these mutants some test notices.

    pip install cosmic-ray                # an extra step: neither the package nor its tests need it
    python tests/long/mutation.py [ROOM...] [--sample N] [--seed N] [--work DIR]

Works on a copy of the clone, one mutant at a time, at low priority. A sample takes at most one mutant of each place in
the code (an operator has up to eleven), drawn with the seed. Left out is what changes no result: annotations,
decorators, what only a type checker reads, the `strict` of zip. Prints a line a room, and every survivor as a diff: a
gap in the tests, or a change that nobody can see, which only reading it can tell. Stopped and started again with the
same --work, it goes on where it was.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent


class Room(NamedTuple):
    """Files to break, the tests that ought to notice (the fastest first), and how many mutants to try."""

    files: tuple[str, ...]
    tests: tuple[str, ...]
    sample: int


ROOMS = {
    "norm": Room(("norm/*.py",), ("norm", "backward", "walk", "arithmetic", "faults_arrays"), 100),
    "reading": Room(("reading/*.py",), ("numbers", "files", "arguments"), 150),
    "grader": Room(
        tuple(f"quiz/{name}.py" for name in ("grading", "marking", "rounding", "typed")),
        ("quiz_feedback", "quiz_grading", "quiz_sheets", "quiz_content"),
        120,
    ),
    "faults": Room(
        ("faults/*.py",),
        ("answer", "inference", "condition", "judgement", "precision", "faults_typed", "faults_arrays", "slips_by_hand",
         "diagnose_cli", "large", "faults"),
        100,
    ),
}  # fmt: skip
ELSEWHERE = "another_process or ascii_stdout"
"""Tests (parts of their names) that start a process with an environment of its own, which would not see the copy."""

PATIENCE = 4
"""A mutant whose tests take so many times as long as without it counts as noticed: it runs for ever."""

Place = tuple[str, tuple[int, int]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=f"of {', '.join(ROOMS)}; all of them if none is given")
    parser.add_argument("--sample", type=int, help="mutants of a room (default: as many as stand in this file)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, help="where the copy and the sessions are kept (default: nowhere)")
    arguments = parser.parse_args()
    if unknown := set(arguments.rooms) - set(ROOMS):
        parser.error(f"no room {', '.join(sorted(unknown))}")
    if hasattr(os, "nice"):
        os.nice(10)
    with tempfile.TemporaryDirectory() as passing:
        work = (arguments.work or Path(passing)).resolve()
        copied(work)
        print(f"{'room':8} {'places':>6} {'mutants':>7} {'sampled':>7} {'killed':>6} {'survived':>8}", flush=True)
        for name in arguments.rooms or ROOMS:
            session = prepared(name, work, arguments.sample or ROOMS[name].sample, arguments.seed)
            subprocess.run([*TOOL, "exec", f"{name}.toml", session.name], cwd=work, env=environment(work), check=True)
            report(name, session)
    return 0


TOOL = (sys.executable, "-m", "cosmic_ray.cli")


def environment(work: Path) -> dict[str, str]:
    """The copy is what gets imported, also where the clone is installed in place; one core is enough."""
    return {**os.environ, "PYTHONPATH": str(work / "copy"), "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def copied(work: Path) -> None:
    """The clone as it is now, kept for the whole of the work, and a fresh copy of that to be broken."""
    left = shutil.ignore_patterns(".git", "__pycache__", ".*_cache", ".venv", "dist", "build")
    if not (work / "clone").exists():
        shutil.copytree(ROOT, work / "clone", ignore=left)
    shutil.rmtree(work / "copy", ignore_errors=True)  # where work was stopped it may hold a mutant
    shutil.copytree(work / "clone", work / "copy")


def prepared(name: str, work: Path, sample: int, seed: int) -> Path:
    """The session of a room with its sample drawn; one that was begun is taken up again."""
    from cosmic_ray.work_db import WorkDB, use_db
    from cosmic_ray.work_item import WorkerOutcome, WorkResult

    session, copy, room = work / f"{name}.sqlite", work / "copy", ROOMS[name]
    if session.exists():
        return session
    files = [path for pattern in room.files for path in sorted((copy / "lnorm_cli").glob(pattern))]
    tests = [path for test in room.tests for path in sorted((copy / "tests").glob(f"test_{test}.py"))]
    pytest = [sys.executable, "-m", "pytest", "-x", "-q", "--rootdir", "copy", "-k", f"not ({ELSEWHERE})"]
    command = [*pytest, *(str(path.relative_to(work)) for path in tests)]
    began = time.monotonic()
    whole = subprocess.run(command, cwd=work, env=environment(work), capture_output=True, text=True, check=False)
    if whole.returncode:
        raise SystemExit(f"{name}: the tests fail before anything is broken\n{whole.stdout[-2000:]}{whole.stderr}")
    values = {
        "module-path": [str(path.relative_to(work)) for path in files],
        "timeout": 10 + PATIENCE * (time.monotonic() - began),
        "excluded-modules": [],
        "test-command": shlex.join(command),
    }
    lines = [f"{key} = {value!r}" for key, value in values.items()]
    config = "\n".join(["[cosmic-ray]", *lines, "[cosmic-ray.distributor]", 'name = "local"', ""])
    tomllib.loads(config)
    (work / f"{name}.toml").write_text(config)
    begun = session.with_suffix(".begun")
    subprocess.run([*TOOL, "init", f"{name}.toml", begun.name], cwd=work, env=environment(work), check=True)
    idle = {str(path.relative_to(work)): list(unseen(path)) for path in files}
    with use_db(begun, WorkDB.Mode.open) as database:
        mutants: dict[Place, list[tuple[str, int, str]]] = {}
        for item in database.work_items:
            mutation = item.mutations[0]
            start = mutation.start_pos
            if not any(low <= start < high for low, high in idle[str(mutation.module_path)]):
                place = str(mutation.module_path), start
                mutants.setdefault(place, []).append((mutation.operator_name, mutation.occurrence, item.job_id))
        chance = random.Random(seed)
        places = sorted(mutants)
        drawn = chance.sample(places, min(sample, len(places)))
        kept = {chance.choice(sorted(mutants[place]))[-1] for place in drawn}
        skipped = [item.job_id for item in database.work_items if item.job_id not in kept]
        database.set_multiple_results(skipped, WorkResult(WorkerOutcome.SKIPPED))
    (work / f"{name}.counts").write_text(f"{len(mutants)} {sum(map(len, mutants.values()))}")
    return begun.rename(session)


def unseen(path: Path) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Where that stands which changes no result: (line, column) of its beginning and end."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        parts = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        parts += [node.value] if isinstance(node, ast.keyword) and node.arg == "strict" else []
        parts += [node.test] if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" else []
        yield from (((p.lineno, p.col_offset), (p.end_lineno, p.end_col_offset)) for p in parts if p is not None)
        for part in getattr(node, "decorator_list", ()):  # with its @
            yield (part.lineno, part.col_offset - 1), (part.end_lineno, part.end_col_offset)


def report(name: str, session: Path) -> None:
    from cosmic_ray.work_db import WorkDB, use_db
    from cosmic_ray.work_item import WorkerOutcome

    with use_db(session, WorkDB.Mode.open) as database:
        results = [(job, r) for job, r in database.results if r.worker_outcome != WorkerOutcome.SKIPPED]
    survived = [(job, r) for job, r in results if not r.is_killed]
    places, mutants = session.with_suffix(".counts").read_text().split()
    killed = len(results) - len(survived)
    print(f"{name:8} {places:>6} {mutants:>7} {len(results):7} {killed:6} {len(survived):8}", flush=True)
    for number, (_, result) in enumerate(survived, start=1):
        print(f"\n{name}, survivor {number}\n{result.diff}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
