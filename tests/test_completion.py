"""What the shells offer at Tab: by the protocol of each shell, and in a real bash."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import leaves
from conftest import environment, invoke

from lnorm_cli.check.cases import case_ids
from lnorm_cli.cli.edge import run as run_here
from lnorm_cli.explain.topics import topics
from lnorm_cli.quiz.bank import Bank

TOPICS = [topic.name for topic in topics()]
DTYPES = ["float64", "float32", "float16", "bfloat16"]
OFFERED = [
    ("", ["compute", "explain", "diagnose", "check", "quiz"]), ("c", ["compute", "check"]),
    ("quiz ", ["worksheet", "grade", "progress", "export"]), ("quiz w", ["worksheet"]),
    ("explain ", TOPICS), ("explain pre", ["prenorm", "precision"]), ("explain prenorm ", []),
    ("explain --depth 4 fin", ["finalnorm"]), ("explain -f ", ["text", "markdown", "json"]),
    ("compute 2 4 --norm ", ["layer", "rms", "batch"]), ("compute -1 2 -3 --norm r", ["rms"]),
    ("compute --dtype ", DTYPES), ("compute 1 2 --accumulate b", ["bfloat16"]),
    ("compute --gamma 1 2 --dtype fl", DTYPES[:3]),
    ("compute 1 2 --format ", ["text", "json", "markdown", "latex", "csv"]), ("compute 1 2 -f j", ["json"]),
    ("diagnose 1 2 --norm ", ["layer", "rms", "batch"]), ("diagnose --order ", ["post", "pre", "final"]),
    ("diagnose -f ", ["text", "json"]), ("quiz --topic ", Bank().topics()),
    ("quiz --topic epsilon --topic wa", ["warmup"]),
    ("quiz worksheet --topic ep", ["epsilon"]), ("quiz worksheet -f ", ["markdown", "latex", "json"]),
    ("quiz export --topic roo", []), ("quiz progress --export ", ["json"]), ("check --case ", case_ids()),
    ("check my.py:f --case small", ["small-variance"]), ("check --norm ", ["layer", "rms"]), ("check --dtype ", DTYPES),
    ("compute 2 4 ", []), ("check ", []), ("compute --gama ", []), ("compute --norm nonsense --dtype bf", ["bfloat16"]),
]  # fmt: skip


def protocol(shell: str, line: str) -> dict[str, str]:
    """The environment by which the shell asks what may follow this line."""
    line = f"lnorm {line}"
    typed = [*line.split(), ""] if line.endswith(" ") else line.split()
    asked = {"COMP_WORDS": "\n".join(typed), "COMP_CWORD": str(len(typed) - 1)} if shell == "bash" else {}
    asked |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"} if shell != "bash" else {}
    return {"_LNORM_COMPLETE": f"complete_{shell}", **asked}


def values(shell: str, answer: str) -> list[str]:
    """The words that an answer offers, without what is said of them."""
    if shell == "zsh":
        return re.findall(r'^(?:_arguments .*\(\()?"([^"]+)"', answer, re.MULTILINE)
    return [line.partition("\t")[0] for line in answer.splitlines() if line]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[str, str], str]:
    """What lnorm answers a shell, in this process."""

    def answer(shell: str, line: str) -> str:
        with monkeypatch.context() as patch:
            for name, value in protocol(shell, line).items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as left:
                run_here([])
        out, err = capsys.readouterr()
        assert (left.value.code or 0, err) == (0, "")
        return out

    return answer


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(("line", "wanted"), OFFERED, ids=[line or "nothing" for line, _ in OFFERED])
def test_what_is_offered(shell: str, line: str, wanted: list[str], ask) -> None:
    assert sorted(values(shell, ask(shell, line))) == sorted(wanted)


@pytest.mark.parametrize("path", list(leaves()), ids=lambda path: " ".join(path) or "lnorm")
def test_every_option_is_offered(path: tuple[str, ...], ask) -> None:
    shown = invoke(*path, "--help").out
    names = set(re.findall(r"(?<![\w-])--[a-z-]+", shown.partition("Options:")[2].partition("Examples:")[0]))
    assert len(names) > 2
    options = [name for name in names if re.search(rf"^  (?:-\w, )?{name}\b(?!-)", shown, re.MULTILINE)]
    assert set(values("bash", ask("bash", " ".join([*path, "--"])))) == set(options)


@pytest.mark.parametrize("line", ["nonsense ", "quiz nonsense ", "2 4 ", "compute 1 ( ", "--nonsense "])
def test_no_error_in_the_middle_of_a_line(line: str, ask) -> None:
    for shell in ("bash", "zsh", "fish"):
        ask(shell, line)


def test_topics_come_with_what_they_are_about(ask) -> None:
    assert "prenorm\tPre-norm" in ask("fish", "explain pre")
    assert '"prenorm":"Pre-norm"' in ask("zsh", "explain pre")


LOADED = """
import atexit, sys
from lnorm_cli.__main__ import main
atexit.register(lambda: sys.stderr.write(" ".join(sys.modules)))
main()
"""


@pytest.mark.parametrize("line", ["", "explain ", "quiz --topic ", "check --case ", "compute --norm ", "diagnose --"])
def test_nothing_heavy_is_loaded(line: str) -> None:
    env = environment(protocol("bash", line))
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, env=env, timeout=60)
    assert done.returncode == 0
    assert done.stdout
    loaded = done.stderr.split()
    assert "lnorm_cli" in loaded
    assert not {"numpy", "sympy", "fsrs", "sqlite3", "ml_dtypes", "rich", "matplotlib"} & set(loaded)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
class TestRealBash:
    """The script that `--show-completion` prints, sourced in bash."""

    @pytest.fixture
    def bash(self, tmp_path: Path) -> Callable[[str], str]:
        program = tmp_path / "lnorm"
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m lnorm_cli "$@"\n')
        program.chmod(0o755)
        env = environment()
        env["PATH"] = f"{tmp_path}:{env['PATH']}"

        def run(script: str) -> str:
            done = subprocess.run(
                ["bash", "--norc", "-c", script], capture_output=True, text=True, env=env, timeout=60, check=False
            )
            assert (done.returncode, done.stderr) == (0, "")
            return done.stdout

        return run

    def test_the_script_is_that_of_bash(self, bash: Callable[[str], str]) -> None:
        shown = bash("lnorm --show-completion; exit $?")
        assert shown.strip() == bash("_LNORM_COMPLETE=source_bash lnorm; exit $?").strip()
        assert "complete -o default -F _lnorm_completion lnorm" in shown

    @pytest.mark.parametrize(
        ("typed", "wanted"),
        [("e", ["explain"]), ("explain post", ["postnorm"]), ("compute 2 4 --dtype bf", ["bfloat16"]),
         ("compute -1 2 --norm ", ["layer", "rms", "batch"]), ("quiz --topic fin", ["finalnorm"]), ("nonsense x", [])],
    )  # fmt: skip
    def test_tab(self, typed: str, wanted: list[str], bash: Callable[[str], str]) -> None:
        typed_words = ["lnorm", *typed.split(), *([""] if typed.endswith(" ") else [])]
        script = f"""
            eval "$(lnorm --show-completion)"
            COMP_WORDS=({" ".join(map(shlex.quote, typed_words))})
            COMP_CWORD={len(typed_words) - 1}
            COMP_LINE={shlex.quote(f"lnorm {typed}")}
            COMP_POINT=${{#COMP_LINE}}
            _lnorm_completion lnorm
            printf '%s\n' "${{COMPREPLY[@]}}"
        """
        assert bash(script).split() == wanted
