"""`lnorm explain` at the command line, in its three formats."""

from __future__ import annotations

import io
import json
import math
import re
import shlex
import subprocess
import sys
from importlib import util
from pathlib import Path

import pytest

from lnorm_cli.cli.edge import run
from lnorm_cli.explain.cells import decimal, written
from lnorm_cli.explain.content import Bar, Bars, Pair, Paragraph, Table, Verdict
from lnorm_cli.explain.machine import page_json, page_markdown
from lnorm_cli.explain.page import Page, Ran, page
from lnorm_cli.explain.show import plain, show_page
from lnorm_cli.explain.topics import Source, Topic, find, topics
from lnorm_cli.render.notation import unicode_roots
from lnorm_cli.render.terminal import Terminal

NAMES = [topic.name for topic in topics()]


def small_page() -> Page:
    """A page with one of everything that a demo may return."""
    topic = Topic("small", "A small topic", "a line", 1, (), (), ("a1",), "")
    results = (
        Table(("x", "x̂", "what"), ((1, Pair("sqrt(2)", 2**0.5), "up"), (-2, 0.5, "")), "Values:"),
        Bars((("one", (Bar("layer 1", 1.0), Bar("layer 2", 1000.0))), ("two", (Bar("layer 1", math.inf),)))),
        Verdict("It holds.", "a1", "2 of 2", False, "a bound"),
    )
    parts = (Paragraph("Say *this* about `x * y * z`, μ and | bars."), Ran("small 1 2", results))
    return Page(topic, parts, (Source("a1", "Title", "A, B, C, D", 2020, "arXiv:1"),))


def text_of(made: Page, width: int = 80, **options: bool) -> str:
    stream = io.StringIO()
    terminal = Terminal(stream, width=width, **options)
    if not options:
        terminal.ascii = False
    show_page(terminal, made)
    return stream.getvalue()


def call(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = run(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_text_of_everything() -> None:
    assert [line.rstrip() for line in text_of(small_page()).splitlines()] == [
        "A small topic",
        "",
        "Say this about `x * y * z`, μ and | bars.",
        "",
        "  Values:",
        "   x            x̂  what",
        "   1  √2 ≈ 1.4142  up",
        "  -2          0.5",
        "",
        "  one",
        "  layer 1    1 █",
        "  layer 2 1000 ████████████████████████",
        "  two",
        "  layer 1  inf",
        "",
        "  It holds. [a1]",
        "    measured: 2 of 2",
        "    not reproduced",
        "    a bound",
        "",
        "Sources",
        "[a1] A and others (2020). Title. arXiv:1",
    ]


def test_ascii_of_everything() -> None:
    written_out = text_of(small_page(), ascii=True)
    assert written_out.isascii()
    assert "xhat" in written_out
    assert "########" in written_out
    assert "\\" not in written_out


def test_markdown_of_everything() -> None:
    assert page_markdown(small_page()).splitlines() == [
        "# A small topic",
        "",
        "Say *this* about `x * y * z`, μ and | bars.",
        "",
        "Values:",
        "",
        "| x | x̂ | what |",
        "| --- | --- | --- |",
        "| 1 | sqrt(2) ≈ 1.4142 | up |",
        "| -2 | 0.5 |  |",
        "",
        "| stack | layer | value |",
        "| --- | --- | --- |",
        "| one | layer 1 | 1 |",
        "| one | layer 2 | 1000 |",
        "| two | layer 1 | inf |",
        "",
        "- It holds. [a1]",
        "  - measured: 2 of 2",
        "  - **not reproduced**",
        "  - a bound",
        "",
        "## Sources",
        "",
        "- [a1] A and others (2020). Title. arXiv:1",
    ]


def test_json_of_everything() -> None:
    document = json.loads(page_json(small_page()))
    assert document["schema"] == "lnorm/explain/1"
    table, bars, claim = document["blocks"][1]["results"]
    assert table["rows"] == [[1, {"exact": "sqrt(2)", "float": 2**0.5}, "up"], [-2, 0.5, ""]]
    assert bars["groups"][1]["bars"] == [{"label": "layer 1", "value": "inf"}]
    assert claim["reproduced"] is False
    assert document["sources"][0]["authors"] == "A, B, C, D"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.0, "2"), (65504.0, "65504"), (1.41421356, "1.4142"), (-0.0, "0"), (math.nan, "nan"), (1e-5, "1e-05"),
        (Pair("2", 2.0), "2"), (Pair(None, 0.5), "0.5"), (30720, "30,720"), ((0.0, -0.001), "0.00 -0.00"),
    ],
)  # fmt: skip
def test_cells(value, text: str) -> None:
    assert written(value) == text
    assert decimal(2.5) == "2.5"


def test_emphasis_is_taken_off_but_not_products() -> None:
    assert plain("*Too large*: `2 * 3 * 4` and 2 * 3 * 4") == "Too large: `2 * 3 * 4` and 2 * 3 * 4"


def test_the_list_is_in_learning_order(capsys) -> None:
    code, out, _ = call("explain", capsys=capsys)
    assert code == 0
    assert [line.split()[1] for line in out.splitlines() if re.match(r" ?\d+ ", line)] == NAMES
    document = json.loads(call("explain", "--json", capsys=capsys)[1])
    assert [entry["name"] for entry in document["topics"]] == NAMES
    assert call("explain", "-f", "markdown", capsys=capsys)[1].startswith("1. `layernorm`")


def test_the_list_needs_neither_numpy_nor_sympy() -> None:
    program = (
        "import sys; from lnorm_cli.cli.edge import run; assert run(['explain']) == 0; "
        "sys.exit(str([m for m in ('numpy', 'sympy') if m in sys.modules]) if "
        "{'numpy', 'sympy'} & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_prenorm_needs_no_sympy() -> None:
    program = (
        "import sys; from lnorm_cli.cli.edge import run; assert run(['explain', 'prenorm']) == 0; "
        "sys.exit('sympy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_every_topic_in_every_format(name: str) -> None:
    made = page(find(name))
    document = json.loads(page_json(made))
    assert document["topic"] == name
    assert [block["kind"] for block in document["blocks"]].count("demo") >= 1
    markdown = page_markdown(made)
    assert "```demo" not in markdown
    assert f"# {made.topic.title}" in markdown
    spelled_out = text_of(made, ascii=True)
    assert spelled_out.isascii()
    assert not re.search(r"\\[xu]", spelled_out)


@pytest.mark.parametrize("name", NAMES)
def test_forty_columns_are_enough(name: str) -> None:
    """Nothing but addresses and commands is wider, and no number of the wide text is cut."""
    made = page(find(name))
    narrow = text_of(made, width=40)
    for line in narrow.split("\n"):
        width = len(line.replace("\u0302", "").rstrip())
        assert width <= 40 or re.search(r"https?://|`.*\S{20}", line), line
    assert "…" not in narrow
    cells = [cell for part in made.parts if isinstance(part, Ran) for result in part.results
             if isinstance(result, Table) for row in result.rows for cell in row]  # fmt: skip
    for cell in cells:
        shown = unicode_roots(written(cell))
        assert shown in " ".join(narrow.split()) or " " in shown, cell


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_page(name: str) -> None:
    assert page_json(page(find(name))) == page_json(page(find(name)))


def test_an_unknown_topic_suggests(capsys) -> None:
    code, out, error = call("explain", "prenrom", capsys=capsys)
    assert (code, out) == (2, "")
    assert "did you mean prenorm?" in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["epsilon", "--depth", "4"], "nothing in the topic epsilon takes --depth"),
        (["--seed", "4"], "--seed needs a topic"),
        (["prenorm", "--depth", "0"], "--depth is 0"),
        (["layernorm", "--save", "x.svg"], "draws no stacks"),
        (["prenorm", "--save", "x.gif"], "does not end in a known kind of figure"),
        (["backward", "--x", "2 4 nope"], "--x"),
        (["placement", "--sublayer", "2*"], "--sublayer"),
        (["axes", "--shape", "2,0"], "--shape"),
        (["axes", "--shape", "2,2", "--axis", "5"], "axis 5 does not exist"),
    ],
)
def test_what_cannot_be_is_refused(arguments: list[str], message: str, capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, error = call("explain", *arguments, capsys=capsys)
    assert (code, out) == (2, "")
    assert message in error
    assert not list(tmp_path.iterdir())


def test_the_readers_own_values(capsys) -> None:
    assert "256  (256,)" in call("explain", "--shape", "8,256", capsys=capsys)[1]
    out = call("explain", "axes", "--shape", "2,2,2,3", "--axis", "-1", capsys=capsys)[1]
    assert re.search(r"means +8 +2 x 2 x 2", out)
    assert re.search(r"gamma +3 +\(3,\)", out)
    out = call("explain", "placement", "--x", "-1", "2", "-3", "--sublayer", "-z", capsys=capsys)[1]
    assert re.search(r"\n +-1 ", out)
    assert "f(z) = -z" in out
    assert (
        "48 layers of width 16, seed 7"
        in call("explain", "prenorm", "--depth", "48", "--width", "16", "--seed", "7", capsys=capsys)[1]
    )
    few = call("explain", "prenorm", "--depth", "4", "--width", "8", capsys=capsys)[1]
    assert "(4 layers of width 8, seed 0), log scale" in " ".join(few.split())
    many = call("explain", "prenorm", "--depth", "9", "--width", "8", capsys=capsys)[1]
    assert "(9 layers of width 8, seed 0, 6 of them shown), log scale" in " ".join(many.split())
    assert re.search(r"together +1,536", call("explain", "parameters", "--width", "768", capsys=capsys)[1])


def test_a_figure_needs_matplotlib_or_is_drawn(capsys, tmp_path) -> None:
    target = tmp_path / "stacks.svg"
    code, out, error = call("explain", "prenorm", "--depth", "3", "--save", str(target), capsys=capsys)
    if util.find_spec("matplotlib"):
        assert code == 0
        assert target.read_text().lstrip().startswith("<?xml")
    else:
        assert (code, out) == (2, "")
        assert "pip install matplotlib" in error


NORM = """import numpy as np


def layer_norm(x, gamma, beta, eps):
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + eps) * gamma + beta


def rms_norm(x, gamma, eps):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * gamma
"""

EXPECTED = {"diagnose": {0, 1}, "quiz": {0}, "check": {0}, "compute": {0}, "explain": {0}}


def commands() -> list[str]:
    """Every command that a topic prints, once."""
    found = [command for topic in topics() for command in re.findall(r"`(lnorm [a-z][^`]*)`", topic.body)]
    return list(dict.fromkeys(" ".join(command.split()) for command in found))


@pytest.mark.parametrize("command", commands())
def test_commands_in_topics_run_as_printed(command: str, tmp_path: Path) -> None:
    words = shlex.split(command)[1:]
    if "--watch" in words or "--save" in words or words == ["diagnose"]:
        pytest.skip("waits for a change, needs matplotlib, or is the bare name")
    if not util.find_spec(f"lnorm_cli.cli.{words[0]}"):
        pytest.skip(f"{words[0]} is not there")
    (tmp_path / "batch.json").write_text("[[1, 2, 3], [3, 2, 7], [5, 8, 2]]")
    if "--new" not in words:
        (tmp_path / "my_norm.py").write_text(NORM)
    done = subprocess.run(
        [sys.executable, "-m", "lnorm_cli", *words], cwd=tmp_path, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, env={"PATH": "", "LNORM_DATA_DIR": str(tmp_path)}, timeout=60,
    )  # fmt: skip
    assert done.returncode in EXPECTED[words[0]], done.stderr
