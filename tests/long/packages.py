"""Build the sdist and from it the wheel, look what is in them, and use the wheel in an empty environment.

    python tests/long/packages.py

Asks the package index for what building and installing need. Prints a line for each check; exit code 1 when one
failed. Run it in a clean clone: what lies about untracked is found in the sdist, and said.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "lnorm_cli"

MINE = """
import numpy as np


def layer_norm(x, gamma, beta, eps):
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) + beta
"""
VERBS = [
    (["compute", "2", "4", "4", "6"], 0, "standard deviation"),
    (["compute", "1", "2", "--dtype", "bfloat16", "--json"], 0, '"lnorm/compute/1"'),
    (["explain", "prenorm"], 0, "Pre-norm"),
    (["quiz", "--count", "2", "--seed", "1"], 0, "2 of 2"),
    (["quiz", "progress"], 0, "answer"),
    (["quiz", "worksheet", "--seed", "7", "--key", "key.md"], 0, "worksheet 7"),
    (["diagnose", "2", "4", "4", "6", "--given", "-1.2247", "0", "0", "1.2247"], 1, "unbiased-variance"),
    (["check", "my.py:layer_norm"], 0, "conforms"),
    (["check", "--new", "new.py"], 0, "wrote new.py"),
]


def call(*command: object) -> None:
    """Run a command that has to succeed."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def environment(folder: Path) -> tuple[Path, Path]:
    """A new virtual environment: its python, and the folder of its commands."""
    call(sys.executable, "-m", "venv", folder)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    return programs / "python", programs


def files(folder: Path) -> set[str]:
    """The files of a folder, as git would have them, relative to the root."""
    listed = subprocess.run(["git", "ls-files", "-z", folder], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}


def contents(wheel: Path, sdist: Path) -> Iterator[tuple[str, set[str]]]:
    """What is checked of the two archives, with the names that are wrong."""
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    with tarfile.open(sdist) as archive:
        packed = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    info = {name for name in inside if name.partition("/")[0].endswith(".dist-info")}
    data = {str(path.relative_to(ROOT).as_posix()) for path in (PACKAGE / "data").rglob("*") if path.is_file()}
    yield f"the wheel has all {len(data)} files of data", data - inside
    yield "the wheel has the whole package", files(PACKAGE) - inside
    yield "the wheel has nothing else", inside - info - files(PACKAGE)
    yield (
        "the wheel has its licence, and says that it is typed",
        {name for name in ("LICENSE", "py.typed") if not any(each.endswith(f"/{name}") for each in inside)},
    )
    yield f"the sdist has all {len(data)} files of data", data - packed
    yield "the sdist has all that is tracked", files(ROOT) - packed
    yield "the sdist has nothing else", packed - files(ROOT) - {"PKG-INFO"}


def used(wheel: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Each verb run from the installed wheel, with what was wrong."""
    python, programs = environment(folder / "empty")
    call(python, "-m", "pip", "install", "-q", wheel)
    place = folder / "place"
    place.mkdir()
    (place / "my.py").write_text(MINE, encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env = {**kept, "LNORM_DATA_DIR": str(place / "progress"), "PYTHONIOENCODING": "utf-8", "PYTHONWARNINGS": "error"}
    for arguments, code, words in VERBS:
        done = subprocess.run(
            [programs / "lnorm", *arguments], input="1\ns\n" * 3, capture_output=True, encoding="utf-8", cwd=place,
            env=env, timeout=120, check=False,
        )  # fmt: skip
        good = done.returncode == code and words in done.stdout and "Traceback" not in done.stderr
        yield f"lnorm {' '.join(arguments)}", "" if good else f"{done.returncode}\n{done.stdout}{done.stderr}"
    listed = subprocess.run([programs / "lnorm", "explain"], capture_output=True, encoding="utf-8", env=env, check=True)
    topics = {path.stem for path in (PACKAGE / "data" / "topics").glob("*.md")}
    yield f"all {len(topics)} topics are listed", " ".join(topics - set(listed.stdout.split()))


def main() -> int:
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python, _ = environment(folder / "builder")
        call(python, "-m", "pip", "install", "-q", "build")
        call(python, "-m", "build", "--outdir", folder / "dist", ROOT)
        [wheel], [sdist] = (list((folder / "dist").glob(pattern)) for pattern in ("*.whl", "*.tar.gz"))
        print(f"{wheel.name} {wheel.stat().st_size:,} bytes, {sdist.name} {sdist.stat().st_size:,} bytes")
        checks = [(what, ", ".join(sorted(wrong))) for what, wrong in contents(wheel, sdist)]
        for what, wrong in [*checks, *used(wheel, folder)]:
            print(f"FAILED {what}: {wrong}" if wrong else f"ok {what}", flush=True)
            bad += bool(wrong)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
