"""Documentation that cannot drift: what the README, docs and help show is run, and every option is described."""

from __future__ import annotations

import html
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import environment, invoke

from lnorm_cli.cli.app import build
from lnorm_cli.render.notation import NO_BREAK

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(page: Path) -> Iterator[tuple[str, list[str]]]:
    """(command, output lines) of each command in the page's console blocks."""
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output.rstrip("\n").split("\n") if output.strip() else []


def matches(pattern: list[str], lines: list[str]) -> bool:
    """Whether the lines are those of the pattern, in which `...` stands for any number of lines."""
    source = "".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()) + r"\n" for line in pattern)
    return re.fullmatch(source, "".join(line.rstrip() + "\n" for line in lines)) is not None


def test_the_matcher_itself() -> None:
    assert matches(["a", "...", "d"], ["a", "b", "c", "d"])
    assert matches(["a", "..."], ["a"])
    assert not matches(["a", "...", "d"], ["a", "b"])
    assert not matches(["a"], ["a", "b"])
    assert not matches(["1.0"], ["1x0"])


def bash(command: str, folder: Path) -> str:
    python = shlex.quote(sys.executable)
    program = f'python() {{ {python} "$@"; }}; lnorm() {{ python -m lnorm_cli "$@"; }}; {command}'
    env = environment({"LNORM_DATA_DIR": str(folder / "data"), "PYTHONIOENCODING": "utf-8"})
    done = subprocess.run(
        ["bash", "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        timeout=120,
        check=False,
    )
    return done.stdout.decode()


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_what_a_page_shows_is_what_comes(page: Path, tmp_path: Path) -> None:
    """`$ cat FILE` makes the file that it shows; `$ lnorm` and `$ python` are run and compared, in the page's order."""
    for command, output in examples(page):
        if command.startswith("cat ") and "|" not in command:
            (tmp_path / command.split()[1]).write_text("\n".join(output) + "\n", encoding="utf-8")
        elif re.search(r"\b(lnorm|python)\b", command):
            got = bash(command, tmp_path)
            assert "internal error" not in got
            assert not output or matches(output, got.rstrip("\n").split("\n")), f"$ {command}\n{got}"


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert target.startswith(("http", "mailto")) or (page.parent / target).exists(), f"{page.name}: {target}"


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))


COMMANDS = dict(commands(build()))


@pytest.mark.parametrize("path", COMMANDS, ids=[" ".join(path) or "lnorm" for path in COMMANDS])
def test_every_option_is_described(path: tuple[str, ...]) -> None:
    done = invoke(*path, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.isascii()
    assert done.out == invoke(*path, "-h").out
    text = " ".join(done.out.split())
    command = COMMANDS[path]
    assert (command.help or "").strip()
    for parameter in command.params:
        if getattr(parameter, "hidden", False):
            continue
        assert (getattr(parameter, "help", "") or "").strip(), f"{parameter.name} has no help"
        for name in parameter.opts if parameter.param_type_name == "option" else ():
            assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text), f"{name} is not in the help"


@pytest.mark.parametrize("path", COMMANDS, ids=[" ".join(path) or "lnorm" for path in COMMANDS])
def test_help_fits_eighty_columns(path: tuple[str, ...]) -> None:
    assert max(map(len, invoke(*path, "--help").lines)) <= 80


@pytest.mark.parametrize("path", COMMANDS, ids=[" ".join(path) or "lnorm" for path in COMMANDS])
def test_help_speaks_no_python(path: tuple[str, ...]) -> None:
    assert not re.search(r"<(list|str)\b|None|Optional|typing", invoke(*path, "--help").out)


def help_examples(path: tuple[str, ...]) -> list[str]:
    found = re.search(r"Examples:\n((?:    .*\n)+)", invoke(*path, "--help").out)
    return [line.strip() for line in found[1].splitlines()] if found else []


WITH_EXAMPLES = [path for path, command in COMMANDS.items() if path]
ANSWERS = "student,item,answer\n"


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=[" ".join(path) for path in WITH_EXAMPLES])
def test_the_examples_of_the_help_run(path: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = help_examples(path)
    assert shown, "a command's help has examples"
    monkeypatch.chdir(tmp_path)
    env = {"LNORM_DATA_DIR": str(tmp_path / "data")}
    sheet = invoke("quiz", "worksheet", "--seed", "7", "--count", "2", env=env).out if "quiz" in path else ""
    ids = re.findall(r"`([\w.:-]+)`", sheet)
    Path("answers.csv").write_text(ANSWERS + "".join(f"Ada,{name},1\n" for name in ids[:2]))
    for line in shown:
        arguments = shlex.split(line)
        stdin = b""
        if arguments[0] == "echo":
            stdin, arguments = arguments[1].encode() + b"\n", arguments[3:]
        assert arguments[0] == "lnorm"
        done = invoke(*arguments[1:], stdin=stdin, env=env)
        wrong_is_an_answer = {"diagnose", "check", "grade"} & set(arguments)
        assert done.code in ((0, 1) if wrong_is_an_answer else (0,)), f"{line}\n{done.err}"
        assert done.out
        assert "internal" not in done.err


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "img").glob("*.svg")), ids=lambda path: path.stem)
def test_a_picture_shows_what_its_command_prints(path: Path, tmp_path: Path) -> None:
    """By its text: how the letters are placed is the drawing library's affair."""
    drawn = html.unescape("".join(re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))))
    command, _, shown = drawn.partition("\n")
    printed = bash(f"COLUMNS=80 {command.replace(NO_BREAK, ' ').removeprefix('$ ')}", tmp_path)
    assert "".join(shown.replace(NO_BREAK, " ").split()) == "".join(printed.split())
    assert "http" not in re.sub(r'xmlns="[^"]*"', "", path.read_text(encoding="utf-8"))
