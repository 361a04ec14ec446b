"""The whole suite under several Pythons, with the newest or the oldest dependencies that pyproject.toml allows.

    python tests/long/matrix.py --python python3.11 --python python3.13 --deps newest
    python tests/long/matrix.py --python python3.11 --deps oldest -- -k terminal

Each run has a virtual environment of its own, removed afterwards. The oldest version of a dependency is the least
one within its bounds that has a wheel for that Python; where that is not the bound itself, it is said. What
follows -- goes to pytest. Prints one table; exit code 1 when a run failed. Run it in a clean clone.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NEEDED = [Requirement(text) for text in PROJECT["dependencies"]]


def call(*command: Any) -> str:
    """What a command that has to succeed prints."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def oldest(python: Path, needed: Requirement) -> str:
    """The pin of the oldest version that is allowed and has a wheel for this Python."""
    listed = call(python, "-m", "pip", "index", "versions", needed.name)
    found = re.search(r"Available versions: (.*)", listed)
    assert found, listed
    attempt = [python, "-m", "pip", "install", "-q", "--dry-run", "--no-deps", "--only-binary", ":all:"]
    for version in sorted(v for v in map(Version, found[1].split(", ")) if v in needed.specifier):
        pin = f"{needed.name}=={version}"
        if subprocess.run([*attempt, pin], capture_output=True, check=False).returncode == 0:
            break
    bound = next(Version(s.version) for s in needed.specifier if s.operator == ">=")
    if version != bound:
        print(f"{needed.name} {bound} has no wheel for this Python: {version} is the oldest that has", flush=True)
    return pin


def install(python: Path, deps: str) -> dict[str, str]:
    """The project with its extra dev in the environment of this Python; the versions that it got."""
    pins = python.parent / "pins.txt"
    pins.write_text("\n".join(oldest(python, needed) for needed in NEEDED) if deps == "oldest" else "")
    call(python, "-m", "pip", "install", "-q", "-e", f"{ROOT}[dev]", "-c", pins)
    listed = json.loads(call(python, "-m", "pip", "list", "--format", "json"))
    return {entry["name"].lower().replace("_", "-"): entry["version"] for entry in listed}


def suite(python: Path, options: list[str]) -> tuple[dict[str, int], float]:
    """Run the tests; how many there were of each outcome, and the seconds."""
    report = python.parent / "report.xml"
    command = [python, "-m", "pytest", "-rfE", "--tb=short", f"--junitxml={report}", *options]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env = {**kept, "PATH": f"{python.parent}{os.pathsep}{kept['PATH']}"}
    begun = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    seconds = time.monotonic() - begun
    if not report.exists():
        sys.exit(done.stdout[-3000:] + done.stderr[-3000:])
    if done.returncode:
        print(done.stdout[-20000:], done.stderr[-2000:], flush=True)
    found = next(ElementTree.parse(report).getroot().iter("testsuite"))
    counts = {name: int(found.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")}
    failed = counts["failures"] + counts["errors"]
    passed = counts["tests"] - failed - counts["skipped"]
    return {"passed": passed, "failed": failed, "skipped": counts["skipped"]}, seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", required=True, metavar="PATH")
    parser.add_argument("--deps", choices=["newest", "oldest"], default="newest")
    parser.add_argument("options", nargs="*", metavar="-- PYTEST OPTIONS")
    asked = parser.parse_args()
    rows, bad = [["Python", *(needed.name for needed in NEEDED), "passed", "failed", "skipped", "seconds"]], 0
    for interpreter in asked.python:
        with tempfile.TemporaryDirectory() as directory:
            call(interpreter, "-m", "venv", directory)
            python = Path(directory) / ("Scripts" if sys.platform == "win32" else "bin") / "python"
            version = call(python, "-c", "import platform; print(platform.python_version())").strip()
            print(f"Python {version}, {asked.deps} dependencies", flush=True)
            has = install(python, asked.deps)
            counts, seconds = suite(python, asked.options)
        names = (needed.name.lower().replace("_", "-") for needed in NEEDED)
        rows.append([version, *(has[name] for name in names), *map(str, counts.values()), f"{seconds:.0f}"])
        print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()), flush=True)
        bad += counts["failed"] or not counts["passed"]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
