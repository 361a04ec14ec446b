"""`lnorm compute` on terminals of any width, charset and colour rule, and in pipes of any kind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import environment, invoke, run

INPUTS = [
    "2 4 4 6", "-1/3 sqrt(2) 7", "1 2 3 --gamma 1/2,1,3/2 --beta 0.25", "600 -600 0 0 --dtype float16", "1e400 1",
    "2 4 1 3 --backward 1 0 0 0", "3 5 2 6 --norm rms --no-exact --digits 12", "0.01 0.02 0.03 0.02 --eps 1",
    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20", "[[1,2,4],[3,5,9]]", "1e30 -1e30 2e30 0 --dtype float32",
    "7 7",
]  # fmt: skip
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def shown(asked: str, width: int, *options: str) -> str:
    done = invoke("compute", *asked.split(), *options, env={"COLUMNS": str(width)})
    assert (done.code, done.err) == (0, "")
    return done.out


@pytest.mark.parametrize("asked", INPUTS)
@pytest.mark.parametrize("options", [(), ("--ascii",)], ids=["unicode", "ascii"])
def test_no_number_is_cut_at_any_width(asked: str, options: tuple[str, ...]) -> None:
    wide = shown(asked, 200, *options)
    for width in (20, 40, 80):
        narrow = shown(asked, width, *options)
        assert set(NUMBER.findall(wide)) <= set(NUMBER.findall(narrow))
        assert "…" not in narrow
        assert "  \n" not in narrow  # nothing trails
        for line in narrow.splitlines() if width >= 40 else ():
            assert len(line.replace("\u0302", "")) <= width or len(line.split()) <= 4, line


@pytest.mark.parametrize("asked", INPUTS[:6])
def test_forty_columns_hold_the_steps(asked: str) -> None:
    """At 40 columns a line is longer only where one value alone is."""
    for line in shown(asked, 40).splitlines():
        words = line.replace("\u0302", "").split()
        assert len(line.replace("\u0302", "")) <= 40 or max(map(len, words)) > 24, line


def test_the_order_of_the_steps_is_the_same_at_every_width() -> None:
    names = ["mean", "deviation", "squared deviation", "variance", "variance plus epsilon", "standard deviation",
             "normalized", "scaled", "output"]  # fmt: skip
    for width in (20, 40, 80, 200):
        found = re.findall(r"^ ?(\d+) ([a-z ]+?)(?:  .*)?$", shown("2 4 1 3", width), re.MULTILINE)
        assert [name.strip() for _, name in found] == names
        assert [int(number) for number, _ in found] == list(range(1, 10))


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "iso8859-7"])
def test_charsets_without_the_symbols_spell_them(encoding: str) -> None:
    for asked in INPUTS[:6]:
        done = invoke("compute", *asked.split(), encoding=encoding)
        assert (done.code, done.err) == (0, "")
        assert done.out.isascii()
        assert "\\u" not in done.out
        assert "?" not in done.out
        assert done.out == shown(asked, 80, "--ascii")
    for word in ("mu = sum(x)/n", "sigma^2", "sqrt(", "eps", "gamma", "beta", "xhat"):
        assert word in shown("2 4 1 3", 80, "--ascii")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_charsets_for_real(encoding: str) -> None:
    done = run("compute", "1", "2", "3", encoding=encoding)
    assert (done.code, done.err) == (0, "")
    assert done.out.isascii()
    assert run("compute", "--help", encoding=encoding).out.isascii()
    refused = run("compute", "-i", "données[√].json", encoding=encoding)
    assert refused.code == 2
    assert "nn" + ("é" if encoding == "cp1252" else "\\xe9") + "es[\\u221a].json: cannot be read" in refused.err


def test_a_charset_with_the_symbols_has_them() -> None:
    assert "σ²" in run("compute", "1", "2").out
    assert "données[√].json" in run("compute", "-i", "données[√].json").err


COLOURS = [
    ({}, False), ({"FORCE_COLOR": "1"}, True), ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ({"NO_COLOR": "", "FORCE_COLOR": "1"}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False),
]  # fmt: skip


@pytest.mark.parametrize(("env", "coloured"), COLOURS)
def test_colour_rules_in_a_pipe(env: dict[str, str], coloured: bool) -> None:
    done = invoke("compute", "2", "4", "4", "6", env=env)
    assert ("\x1b[" in re.sub(r"\x1b\[[012]m|\x1b\[0m", "", done.out)) is coloured  # bold and dim are no colours
    plain = invoke("compute", "2", "4", "4", "6").out
    assert ESCAPE.sub("", done.out).split() == plain.split()  # every colour stands beside its words
    for format in ("json", "csv", "markdown", "latex"):
        assert "\x1b" not in invoke("compute", "2", "4", "-f", format, env={"FORCE_COLOR": "1"}).out


TERMINALS = [
    pytest.param({"TERM": "xterm-256color"}, True),
    pytest.param({"TERM": "xterm", "NO_COLOR": "1"}, False),
    pytest.param({"TERM": "dumb"}, False),
]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("env", "coloured"), TERMINALS)
def test_on_a_real_terminal_of_forty_columns(env: dict[str, str], coloured: bool) -> None:
    import pexpect  # type: ignore[import-untyped]

    surroundings = {k: v for k, v in environment({"PYTHONIOENCODING": "utf-8", **env}).items() if k != "COLUMNS"}
    command = f"{sys.executable} -m lnorm_cli compute 2 4 4 6"
    out, code = pexpect.run(command, env=surroundings, dimensions=(50, 40), withexitstatus=True)
    text = out.decode()
    assert code == 0
    assert (re.search(r"\x1b\[[0-9;]*3[1-7]m", text) is not None) is coloured
    lines = [line.replace("\u0302", "") for line in ESCAPE.sub("", text).splitlines()]
    assert any("√2" in line for line in lines)
    assert max(len(line.rstrip()) for line in lines) <= 40


ZEROS = [
    "0 0 1 -1 --gamma -1", "-0 -0.0 1", "-1e-400 1e-400", "1 2 --gamma 0 --beta -0", "2 4 1 3 --backward 0 -0 0 0",
    "1 2 3 --dtype bfloat16", "-1e-8 1e-8 --dtype float16 --gamma -1",
]  # fmt: skip
NEVER = (
    "np.float",
    "float64(",
    "float32(",
    "float16(",
    "Fraction(",
    "mpf(",
    "Rational(",
    "array(",
    "dtype=",
    "nan\n",
    "None",
)


@pytest.mark.parametrize("format", ["text", "json", "csv", "markdown", "latex"])
def test_no_type_names_and_no_negative_zero(format: str, tmp_path: Path) -> None:
    np.savez(
        tmp_path / "x.npz", x=np.array([[1, -1, 0.5], [2, 0, -2]], np.float32), gamma=np.array([-1, 0, 1], np.float32)
    )
    for asked in [f"-i {tmp_path}/x.npz", *ZEROS]:
        done = invoke("compute", *asked.split(), "-f", format)
        assert (done.code, done.err) == (0, "")
        assert not any(word in done.out for word in NEVER)
        assert re.search(r"(?<![\w.)])-0(\.0*)?(?![\d.e/*])", done.out) is None


NAMES = [
    ("data[final].json", "data[final].json"), ("[/red]", "[/red]"), ("a\x1b[31mb", "a\\x1b[31mb"),
    ("tab\there", "tab\\there"), ("new\nline", "new\\nline"), ("\u202egnp", "\\u202egnp"),
]  # fmt: skip


def test_file_names_are_shown_as_they_are() -> None:
    for name, shown_as in NAMES:
        done = invoke("compute", "-i", name)
        assert done.code == 2
        assert shown_as in done.err
        assert done.err.count("\n") == 2
        assert "\x1b" not in done.err
    done = run("compute", "-i", os.fsdecode(b"\xff.json"))
    assert (done.code, "internal" in done.err) == (2, False)


def test_standard_input(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([2.0, 4, 4, 6]))
    right = invoke("compute", "2", "4", "4", "6", "-f", "csv").out
    for data in (b"2 4 4 6\n", b"2,4,4,6", b"[2, 4, 4, 6]", b'{"x": [2, 4, 4, 6]}', (tmp_path / "x.npy").read_bytes()):
        for asked in (["-"], ["-i", "-"], ["--input", "-"]):
            assert invoke("compute", *asked, "-f", "csv", stdin=data).out == right
    empty = invoke("compute", "-", stdin=b"")
    assert (empty.code, empty.out) == (2, "")
    assert "standard input: is empty" in empty.err
    assert run("compute", "2", "4", "4", "6", "-f", "csv", stdin=b"9 9 9\n").out == right  # read only for an explicit -


def shell(command: str, **env: str) -> subprocess.CompletedProcess[str]:
    program = f'lnorm() {{ {sys.executable} -m lnorm_cli "$@"; }}; {command}'
    return subprocess.run(
        ["bash", "-c", program], capture_output=True, text=True, env=environment(env), timeout=60, check=False
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs bash")
class TestPipes:
    @pytest.mark.parametrize("unbuffered", ["", "1"])
    @pytest.mark.parametrize("format", ["text", "json", "csv"])
    def test_a_closed_pipe_ends_silently(self, tmp_path: Path, unbuffered: str, format: str) -> None:
        np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(300, 40)))
        command = (
            f"lnorm compute -i {tmp_path}/x.npy --no-exact -f {format} | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}"
        )
        done = shell(command, PYTHONUNBUFFERED=unbuffered)
        assert done.stderr == ""
        assert done.stdout.strip() in (("141",) if format != "text" else ("141", "0"))

    def test_a_closed_standard_input_is_said(self) -> None:
        done = shell("lnorm compute - <&-")
        assert done.returncode == 2
        assert done.stderr == "error: standard input: is closed\nhint: pipe the numbers in, or give a file\n"

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
    def test_a_full_disk_is_said(self) -> None:
        done = shell("lnorm compute 1 2 >/dev/full")
        assert done.returncode == 2
        assert "No space left on device" in done.stderr
        assert "internal" not in done.stderr

    def test_a_closed_standard_output_is_no_crash(self) -> None:
        done = shell("lnorm compute 1 2 >&-")
        assert "Traceback" not in done.stderr
        assert "internal" not in done.stderr

    def test_ctrl_c_is_130_and_silent(self, tmp_path: Path) -> None:
        """The numbers come through a named pipe: once it can be written to, the command waits to read from it."""
        pipe = tmp_path / "numbers"
        os.mkfifo(pipe)
        command = [sys.executable, "-m", "lnorm_cli", "compute", "-i", str(pipe)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
            descriptor = self.opened(pipe)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
            os.close(descriptor)
        assert (process.returncode, out, err) == (130, b"", b"")

    def opened(self, pipe: Path) -> int:
        for _ in range(600):
            try:
                return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:  # nobody reads yet
                time.sleep(0.05)
        raise TimeoutError
