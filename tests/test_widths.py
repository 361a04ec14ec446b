"""What every command prints, at any width, in any charset and under any rule of colour."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
from commands import MACHINE, QUIZ, RUNS, furnish, leaves, words
from conftest import Result, environment, invoke
from rich.cells import cell_len

from lnorm_cli.explain.topics import topics

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
CUT = re.compile(r"\d(?:…|\.\.\.)|(?:…|\.\.\.)\d|[a-z]\.\.\.$", re.MULTILINE)
PEOPLE = [*RUNS, *(f"explain {topic.name}" for topic in topics())]
USUAL = {"diagnose 2 4 4 6 --given four": 2}


@pytest.fixture(scope="module")
def furnished(tmp_path_factory):
    """A folder with what the commands read, and the environment for it."""
    folder = tmp_path_factory.mktemp("furnished")
    return folder, furnish(folder)


@pytest.fixture
def call(furnished, monkeypatch):
    """Runs a command of the list in that folder."""
    folder, env = furnished
    monkeypatch.chdir(folder)

    def run(line: str, *options: str, encoding: str = "utf-8", **more: str) -> Result:
        for made in ("new.py", "cards.txt", "key"):
            (folder / made).unlink(missing_ok=True)
        done = invoke(*words(line), *options, stdin=QUIZ, env={**env, **more}, encoding=encoding)
        assert done.code == USUAL.get(line, done.code if done.code < 2 else 0)
        return done

    return run


def own_option(line: str) -> tuple[str, ...]:
    """--ascii, for what is a command."""
    return () if line.startswith("-") or not line else ("--ascii",)


def test_the_list_has_every_command() -> None:
    listed = [tuple(words(line)) for line in [*RUNS, *MACHINE]]
    for path in leaves():
        assert any(line[: len(path)] == path for line in listed), path


@pytest.mark.parametrize("path", [path for path in leaves() if path], ids=" ".join)
def test_every_command_can_be_asked_for_ascii(path: tuple[str, ...]) -> None:
    assert "--ascii" in invoke(*path, "--help").out


def fits(line: str, width: int) -> bool:
    return cell_len(line) <= width or (len(line.split()) == 1 and cell_len(line.strip()) > width)


@pytest.mark.parametrize("line", PEOPLE, ids=lambda line: line or "nothing")
def test_lines_fit_and_no_number_is_cut(line: str, call) -> None:
    """Longer than the terminal is only a line that is one longer word: a number, an address."""
    for width in (40, 80, 200):
        for options in dict.fromkeys([(), own_option(line)]):
            for shown in call(line, *options, COLUMNS=str(width)).lines:
                assert fits(shown, width), (width, options, shown)
                assert not CUT.search(shown), (width, options, shown)


@pytest.mark.parametrize("path", list(leaves()), ids=lambda path: " ".join(path) or "lnorm")
@pytest.mark.parametrize("width", [40, 52, 80, 200])
def test_help_fits(path: tuple[str, ...], width: int) -> None:
    """Its examples alone are lines of their own, to be copied."""
    shown = invoke(*path, "--help", env={"COLUMNS": str(width)}).out
    for line in shown.splitlines():
        example = re.match(r"    (?:echo .* \| )?lnorm ", line)
        assert len(line) <= min(width, 80) or example, line
    wide = invoke(*path, "--help", env={"COLUMNS": "80"}).out
    plain = [re.sub(r"[\s|-]", "", text.replace("\n", "")) for text in (shown, wide)]
    assert plain[0] == plain[1], "the same words at every width"


@pytest.mark.parametrize("line", [*PEOPLE, *MACHINE], ids=lambda line: line or "nothing")
def test_ascii_is_ascii(line: str, call) -> None:
    plain = call(line, *own_option(line))
    assert (plain.out + plain.err).isascii()
    if "latex" not in line and "json" not in line:
        assert not re.search(r"\\[xuN]", plain.out)
    assert not re.search(r"sqrt\d", plain.out), "which digits stand below the root?"
    if not line.startswith("quiz export"):  # its cards go to a file
        assert call(line, encoding="ascii").out == plain.out
    other = call(line, encoding="cp1252")
    assert other.err == plain.err
    if line in PEOPLE:
        assert other.out == plain.out


def test_what_goes_to_files_can_be_ascii(call) -> None:
    for line, file in ("quiz export --anki cards.txt", "cards.txt"), ("quiz worksheet --seed 7 --key key", "key"):
        call(line)
        assert not Path(file).read_text(encoding="utf-8").isascii()
        call(line, "--ascii")
        text = Path(file).read_text(encoding="utf-8")
        assert text.isascii()
        assert not re.search(r"\\[xu]|sqrt\d", text)


@pytest.mark.parametrize("line", [*RUNS[3:], *MACHINE], ids=str)
def test_colour_is_asked_for_and_can_be_refused(line: str, call) -> None:
    plain = call(line).out
    assert "\x1b" not in plain
    for env in {"NO_COLOR": "1", "FORCE_COLOR": "1"}, {"NO_COLOR": "1"}, {"TERM": "dumb"}:
        assert call(line, **env).out == plain
    coloured = call(line, FORCE_COLOR="1").out
    assert ESCAPE.sub("", coloured).split() == plain.split()
    is_text = line in RUNS and not re.search("--new", line)
    assert ("\x1b[" in coloured) is is_text


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("line", [run for run in RUNS[3:] if not re.search("--new|--pass", run)], ids=str)
def test_on_a_dumb_terminal(line: str, furnished) -> None:
    import pexpect  # type: ignore[import-untyped]

    folder, more = furnished
    more = {**more, "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
    env = {name: value for name, value in environment(more).items() if name != "COLUMNS"}
    command = f"{shlex.quote(sys.executable)} -m lnorm_cli {line}"
    out, code = pexpect.run(
        command, env=env, cwd=folder, dimensions=(50, 40), withexitstatus=True, timeout=60,
        events={r"(?m)> $": "q\n"},
    )  # fmt: skip
    assert code in (0, 1, USUAL.get(line, 0))
    assert b"\x1b" not in out
    shown = [text for text in out.decode().splitlines() if not text.startswith("running ")]
    assert all(fits(text, 40) for text in shown)
