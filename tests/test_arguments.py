"""What is done to the arguments before they are parsed: minus signs, and options that take a list."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import invoke
from hypothesis import given
from hypothesis import strategies as st

from lnorm_cli.cli.app import build
from lnorm_cli.cli.arguments import MINUS, prepare

COMMAND = build()

PREPARED = [
    ("compute 1 2 3", "compute|1|2|3"),
    ("compute -1 2 -3", "compute|M1|2|M3"),
    ("compute -.5 -1e-3 -1/3", "compute|M.5|M1e-3|M1/3"),
    ("compute -sqrt(2) -√2 -pi -(1+2)", "compute|Msqrt(2)|M√2|Mpi|M(1+2)"),
    ("compute -inf -nan -infinity", "compute|Minf|Mnan|Minfinity"),
    ("compute -srt(2) -2^x", "compute|Msrt(2)|M2^x"),  # then the grammar names the mistake
    ("compute --2", "compute|M-2"),
    ("compute -x -q --epss 1", "compute|-x|-q|--epss|1"),
    ("compute -h -i x.csv -f json", "compute|-h|-i|x.csv|-f|json"),
    ("compute 1 --gamma 1 2 3", "compute|1|--gamma=1 2 3"),
    ("compute 1 --gamma 1 -2 3 --beta -1", "compute|1|--gamma=1 -2 3|--beta=-1"),
    ("compute --gamma 1,2 3 4", "compute|--gamma=1,2|3|4"),
    ("compute --gamma [1,2] 3 4", "compute|--gamma=[1,2]|3|4"),
    ("compute --gamma=1 3 4", "compute|--gamma=1|3|4"),
    ("compute --gamma=-1 3", "compute|--gamma=-1|3"),
    ("compute --gamma @g.npy 3 4", "compute|--gamma=@g.npy|3|4"),
    ("compute --gamma 1 2 -- 3", "compute|--gamma=1 2|--|3"),
    ("compute 1 --eps -1 -2", "compute|1|--eps|-1|M2"),
    ("compute 1 --axis -1 --row -1", "compute|1|--axis|-1|--row|-1"),
    ("compute 1 --eps=-1", "compute|1|--eps=-1"),
    ("compute -- -1 2", "compute|--|-1|2"),
    ("compute - --json", "compute|-|--json"),
    ("compute 1 2 --backward 1 0 --no-exact", "compute|1|2|--backward=1 0|--no-exact"),
    ("--version", "--version"),
    ("", ""),
]


@pytest.mark.parametrize(("given_arguments", "prepared"), PREPARED, ids=[before for before, _ in PREPARED])
def test_prepare(given_arguments: str, prepared: str) -> None:
    made = "|".join(prepare(given_arguments.split(), COMMAND))
    assert made.replace(MINUS, "M") == prepared


def test_a_quoted_list_is_the_whole_value() -> None:
    assert prepare(["compute", "--gamma", "1 2", "3", "4"], COMMAND) == ["compute", "--gamma=1 2", "3", "4"]


@given(st.lists(st.text(max_size=6), max_size=6))
def test_nothing_is_lost_or_changed_but_minus_signs(words: list[str]) -> None:
    made = prepare(["compute", *words], COMMAND)
    if not any(word.startswith("--") for word in words):
        assert [word.replace(MINUS, "-") for word in made] == ["compute", *(word.replace(MINUS, "-") for word in words)]


def test_the_minus_that_was_written_is_the_minus_that_is_shown() -> None:
    for asked in (["-1", "x"], ["-srt(2)"], ["1", "--eps", "-1"], ["-1", "--gamma", "1,2"]):
        assert MINUS not in invoke("compute", *asked).err


@pytest.mark.parametrize(
    "asked", ["diagnose 1 2 --given --json", "compute 1 2 --gamma --eps", "quiz worksheet --key -h"]
)
def test_an_option_is_no_value_of_the_one_before(asked: str) -> None:
    done = invoke(*asked.split())
    name, following = asked.split()[-2:]
    assert (done.code, done.out) == (2, "")
    assert f"{name} has no value: {following} follows it" in done.err


NAMED = {
    "sheet": ["quiz", "worksheet", "--count", "1", "--key", "{}"],
    "pack": ["quiz", "worksheet", "--pack", "{}"],
    "grade": ["quiz", "grade", "{}"],
    "cards": ["quiz", "export", "--topic", "epsilon", "--anki", "{}"],
    "input": ["compute", "-i", "{}"],
    "parameter": ["compute", "1", "2", "--gamma", "@{}"],
    "starter": ["check", "--new", "{}.py"],
    "figure": ["explain", "prenorm", "--depth", "1", "--save", "{}.svg"],
}
IMPOSSIBLE = {"long": "a" * 300, "deep": "x/" * 3000 + "y", "in a file": "file/x", "nul": "a\0b"}


@pytest.mark.parametrize("asked", NAMED.values(), ids=NAMED)
@pytest.mark.parametrize("name", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_a_file_name_that_no_file_can_have_is_refused(asked: list[str], name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = invoke(*(word.format(tmp_path / name) for word in asked))
    assert (done.code, done.out) == (2, "")
    assert "error: " in done.err
    assert "internal" not in done.err


def test_also_in_a_hint() -> None:
    assert "lnorm compute -1 2" in invoke("-1", "2").err


OTHERS = [
    (["copute", "1", "2"], "did you mean compute?"),
    (["2", "4", "4", "6"], "lnorm compute 2 4 4 6"),
    (["2,4,4,6"], "lnorm compute 2,4,4,6"),
    (["xyzzy"], "commands are compute"),
    (["--vrsion"], "did you mean --version?"),
]


@pytest.mark.parametrize(("asked", "hint"), OTHERS)
def test_what_is_no_command_is_refused_with_a_suggestion(asked: list[str], hint: str) -> None:
    done = invoke(*asked)
    assert (done.code, done.out) == (2, "")
    assert hint in done.err


def test_the_root_command() -> None:
    helped = invoke("--help")
    assert (helped.code, helped.err) == (0, "")
    assert invoke().out == helped.out == invoke("-h").out
    assert invoke().code == 0
    for heading, names in (("Learn:", ("compute", "explain", "quiz")), ("Verify:", ("check",))):
        assert heading in helped.out
        assert all(name in helped.out.split(heading)[1] for name in names)
    version = invoke("--version")
    assert version.code == 0
    assert version.out.startswith("lnorm 0.")


@pytest.mark.parametrize(
    "command", ["diagnose 1 2 --given", "quiz --count", "quiz worksheet --count", "compute 1 --eps"]
)
def test_an_option_at_the_end_without_its_value_names_its_own_help(command: str) -> None:
    done = invoke(*command.split())
    name = command.split()[-1]
    path = command.split(" 1")[0].removesuffix(f" {name}")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"error: {name} has no value\nhint: give one, as {name}=...; see lnorm {path} --help\n"


def test_the_help_of_the_whole_is_the_same_with_and_without_the_options_built() -> None:
    assert invoke("--help").out == invoke().out == invoke("-h").out
    assert "compute" in invoke("--help").out


@pytest.mark.parametrize("name", ["x.npy", "@x.npy", "rows.csv"])
def test_a_file_in_the_place_of_numbers_is_sent_to_its_option(name: str) -> None:
    done = invoke("compute", name)
    assert done.code == 2
    assert f"hint: a file goes after -i: -i {name.removeprefix('@')}" in done.err
