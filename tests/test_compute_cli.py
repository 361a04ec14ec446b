"""`lnorm compute`: values from public reports, arguments, refusals, rows, and every format."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Result, invoke, near

from lnorm_cli.reading import parse_number


def compute(*args: str, **options: Any) -> Result:
    return invoke("compute", *args, **options)


def document(*args: str, **options: Any) -> dict[str, Any]:
    done = compute(*args, "--json", **options)
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)  # type: ignore[no-any-return]


def step(row: dict[str, Any], name: str) -> dict[str, Any]:
    return next(entry for entry in row["steps"] if entry["name"] == name)


REPORTS = tomllib.loads((Path(__file__).parent / "data" / "reports.toml").read_text(encoding="utf-8"))["report"]


@pytest.mark.parametrize("report", REPORTS, ids=[report["source"][-40:] for report in REPORTS])
def test_right_where_a_report_has_it_wrong(report: dict[str, Any]) -> None:
    row = document(*report["asked"].split())["rows"][0]
    for name, text in report.get("exact", {}).items():
        assert step(row, name)["exact"] == text
    right = report["output"]
    assert all(near(ours, theirs, digits=19) for ours, theirs in zip(row["output"]["exact"], right, strict=True))
    slack = 3e-7 if "float32" in report["asked"] else 1e-15
    for ours, theirs in zip(row["output"]["float"], right, strict=True):
        assert abs(ours - float(theirs)) <= slack * max(1, abs(float(theirs)))


def test_long_rows_of_reports(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([256] * 10239 + [255]))  # NVIDIA/trt-samples-for-hackathon-cn#88
    row = document("-i", str(tmp_path / "a.npy"))["rows"][0]
    assert (step(row, "mean")["exact"], step(row, "variance")["exact"]) == ("2621439/10240", "10239/104857600")
    assert near(row["output"]["exact"][-1], "-96.373404070595369705", digits=19)
    np.save(tmp_path / "b.npy", np.arange(6399968, 6400000))  # pytorch/pytorch#81090
    shifted, plain = (document("-i", str(tmp_path / "b.npy")), document(*map(str, range(32))))
    assert shifted["rows"][0]["output"]["exact"] == plain["rows"][0]["output"]["exact"]
    assert near(plain["rows"][0]["output"]["exact"][0], "-1.678744020868978274", digits=18)


SAME = [
    "--gamma 0.5 1 1.5 2", "--gamma 0.5,1,1.5,2", "--gamma=0.5,1,1.5,2", "--gamma [0.5,1,1.5,2]",
    "--gamma 1/2 1 3/2 2",
]  # fmt: skip


@pytest.mark.parametrize(
    "gamma", [form.split() for form in SAME] + [["--gamma", "0.5 1 1.5 2"], ["--gamma=0.5 1 1.5 2"]]
)
@pytest.mark.parametrize("place", ["after", "before", "between"])
def test_gamma_in_every_form(gamma: list[str], place: str) -> None:
    x = ["3", "5", "2", "6"]
    if place == "before" and len(gamma) > 2:
        return  # a list that ends where x begins: refused below
    asked = {"after": [*x, *gamma], "before": [*gamma, *x], "between": [*x, *gamma, "--eps", "0"]}[place]
    row = document(*asked, *([] if place == "between" else ["--eps", "0"]))["rows"][0]
    assert row["output"]["exact"] == ["-sqrt(10)/10", "sqrt(10)/5", "-3*sqrt(10)/5", "4*sqrt(10)/5"]


def test_parameters_from_files(tmp_path: Path) -> None:
    (tmp_path / "g.json").write_text('["1/2", 1, "3/2", 2]')
    (tmp_path / "all.json").write_text('{"x": [3, 5, 2, 6], "gamma": [9, 9, 9, 9], "beta": 1, "eps": 0}')
    right = ["1 - sqrt(10)/10", "1 + sqrt(10)/5", "1 - 3*sqrt(10)/5", "1 + 4*sqrt(10)/5"]
    for asked in (["3", "5", "2", "6", "--eps", "0", "--beta", "1"], ["-i", str(tmp_path / "all.json")]):
        row = document(*asked, "--gamma", f"@{tmp_path}/g.json")["rows"][0]
        assert [parse_number(v) for v in row["output"]["exact"]] == [parse_number(v) for v in right]


NEGATIVE = [
    "-1 2 -3", "1 -2 3", "-.5 2", "-1e-3 2", "-sqrt(2) 1", "-1/3 2", "-(1+2) 4", "-pi 3", "-√2 1", "-2sqrt(3) 1",
    "-- -1 2 -3", "--2 1", "\u22121 2", "-1,-2,-3", "-5. 1",
]  # fmt: skip


@pytest.mark.parametrize("asked", NEGATIVE)
def test_negative_numbers_are_arguments(asked: str) -> None:
    numbers = asked.removeprefix("-- ").replace(",", " ").split()
    x = step(document(*asked.split())["rows"][0], "x")["exact"] if not asked.startswith("-- ") else None
    if x is None:
        x = step(json.loads(invoke("compute", "--json", *asked.split()).out)["rows"][0], "x")["exact"]
    assert [parse_number(v) for v in x] == [parse_number(v) for v in numbers]


REFUSED: list[tuple[list[str], list[str]]] = [
    (["1", "2", "--gama", "3"], ["--gama", "did you mean --gamma"]),
    (["-1", "2", "--epss", "1e-3"], ["did you mean --eps"]), (["1", "2", "-q"], ["-q", "--help"]),
    (["-sqrt(2)", "1", "-x"], ["-x"]), (["-srt(2)", "1"], ["unknown name 'srt'", "sqrt"]),
    (["--gamma", "2", "2", "4", "4", "6"], ["--gamma took all 5 numbers", "lnorm compute 2 4 4 6 --gamma 2"]),
    ([], ["no numbers given", "lnorm compute 2 4 4 6"]), ([""], ["no number"]), (["abc"], ["unknown name 'abc'"]),
    (["0,5", "1,5"], ["decimal comma", "0.5"]), (["0,5;1,5"], ["semicolon"]),
    (["1", "nan"], ["nan is not a finite number"]), (["1", "inf"], ["inf is not a finite"]),
    (["1", "-inf"], ["inf is not a finite"]), (["1", "-nan"], ["nan is not"]),
    (["1", "2", "--eps", "nan"], ["--eps", "nan"]), (["1", "2", "--eps", "inf"], ["--eps", "inf"]),
    (["1", "2", "--eps", "-1"], ["--eps", "-1", "0 or greater"]),
    (["1", "2", "--eps=-1e-9"], ["--eps", "0 or greater"]), (["1", "2", "--eps", "1", "2", "--gamma"], ["--gamma"]),
    (["1", "2", "--eps"], ["--eps"]), (["1", "2", "3", "--gamma", "1,2"], ["gamma has 2 values", "3 features"]),
    (["1", "2", "--beta", "1,x"], ["--beta", "'x'"]),
    (["0", "0", "0", "0", "--eps", "0"], ["variance 0 and eps 0", "0/0", "undefined", "epsilon"]),
    (["3", "3", "3", "--eps", "0", "--no-exact"], ["0/0", "undefined"]),
    (["0", "--norm", "rms", "--eps", "0"], ["0/0"]), (["1E99999", "0"], ["20000 digits"]),
    (["-1E99999", "0"], ["20000 digits"]), (["9^9^9^9", "1"], ["digits"]),
    (["1", "2", "--axis", "1"], ["axis 1 does not exist", "(2,)"]), (["1", "2", "--axis", "x"], ["--axis", "'x'"]),
    (["1", "2", "--row", "1"], ["no row 1"]), (["1", "2", "--row", "x"], ["--row"]),
    (["1", "2", "--digits", "0"], ["--digits", "17"]),
    (["1", "2", "--digits", "9" * 400], ["--digits", "range"]),
    (["1", "2", "--dtype", "float8"], ["--dtype", "float8", "bfloat16"]),
    (["1", "2", "--norm", "batch"], ["one vector", "[[1, 2]"]),
    (["-i", "missing[red].csv"], ["missing[red].csv: cannot be read"]), (["1", "-i", "x.csv"], ["x is given twice"]),
    (["1", "2", "--gamma", "@missing.npy"], ["--gamma", "missing.npy", "cannot be read"]),
    (["[[1,2,3],[4,5]]"], ["ragged: row 2 has 2 values, row 1 has 3"]),
    (["__import__('os').getpid()"], ["unexpected character"]),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "words"), REFUSED, ids=[" ".join(a)[:40] or "nothing" for a, _ in REFUSED])
def test_refused_saying_what_where_and_how_to_mend_it(asked: list[str], words: list[str]) -> None:
    done = compute(*asked)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert "\nhint: " in done.err
    assert all(word in done.err for word in words), done.err
    assert "Traceback" not in done.err
    assert "internal" not in done.err
    as_json = compute("--json", *asked)
    assert (as_json.code, as_json.out) == (2, "")
    error = json.loads(as_json.err)
    assert error["error"]
    assert error["hint"]
    assert as_json.err.isascii()


def test_the_place_is_pointed_at() -> None:
    error, place, mark, _ = compute("1", "2+x", "3").err.splitlines()
    assert error == "error: unknown name 'x'"
    assert place[mark.index("^")] == "x"
    error, place, mark, _ = compute(*["1.5"] * 60, "x", *["2"] * 60).err.splitlines()
    assert len(place) <= 64
    assert place[mark.index("^")] == "x"


SHAPES = [("2", 8, 3), ("1,2", 4, 6), ("0,1,2", 1, 24), ("-1", 8, 3), ("0", 6, 4), ("0,2", 2, 12), ("(1, 2)", 4, 6)]


@pytest.mark.parametrize(("axis", "rows", "n"), SHAPES)
def test_axes_of_a_file(tmp_path: Path, axis: str, rows: int, n: int) -> None:
    x = np.random.default_rng(3).normal(size=(4, 2, 3))
    np.save(tmp_path / "x.npy", x)
    found = document("-i", str(tmp_path / "x.npy"), "--axis", axis, "--no-exact")
    axes = tuple(int(a) for a in re.findall(r"-?\d+", axis))
    right = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)
    moved = np.moveaxis(right, [a % 3 for a in axes], range(3 - len(axes), 3)).reshape(rows, n)
    assert [len(row["output"]["float"]) for row in found["rows"]] == [n] * rows
    assert np.abs(np.array([row["output"]["float"] for row in found["rows"]]) - moved).max() < 1e-13
    assert found["rows"][0]["output"]["exact"] is None


GAMMA_TAKEN = [(4,), (1, 1, 4), (2, 1, 4), (1, 3, 4), (2, 3, 4), (1,)]
GAMMA_REFUSED = [(3,), (5,), (2, 3), (4, 1), (1, 2, 3, 4)]


@pytest.mark.parametrize("shape", GAMMA_TAKEN + GAMMA_REFUSED)
def test_gamma_broadcasts_as_onnx_allows(tmp_path: Path, shape: tuple[int, ...]) -> None:
    """microsoft/onnxruntime#23297."""
    np.save(tmp_path / "x.npy", np.arange(24).reshape(2, 3, 4))
    np.save(tmp_path / "g.npy", np.arange(1, 1 + np.prod(shape)).reshape(shape))
    done = compute("-i", str(tmp_path / "x.npy"), "--gamma", f"@{tmp_path}/g.npy", "--json", "--no-exact")
    assert done.code == (0 if shape in GAMMA_TAKEN else 2)
    if done.code:
        error = json.loads(done.err)
        assert str(shape) in error["error"] or f"gamma has {shape[0]} values" in error["error"]
        assert "4" in error["error"] + error["hint"]


def test_rows_and_batch(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("1,2,3\n0,5,10\n-1,0,4\n2,2,2\n")
    file = ("-i", str(tmp_path / "x.csv"))
    for rows, indexes in (
        ("all", [0, 1, 2, 3]),
        ("1", [1]),
        ("-1", [3]),
        ("0,2", [0, 2]),
        ("1:3", [1, 2]),
        ("2 0", [2, 0]),
    ):
        assert [row["index"] for row in document(*file, "--row", rows)["rows"]] == [[i] for i in indexes]
    text = compute(*file).out
    assert "row [0]: 1 of 4" in text
    assert re.search(r"row \[2\] .*-0\.92\d*, -0\.4\d*, 1\.3", text)
    down = document(*file, "--norm", "batch", "--eps", "0")
    assert [row["index"] for row in down["rows"]] == [[0], [1], [2]]
    assert step(down["rows"][1], "mean")["exact"] == "9/4"
    np.save(tmp_path / "ncl.npy", np.random.default_rng(5).normal(size=(4, 3, 5)))
    x = np.load(tmp_path / "ncl.npy")
    channels = document("-i", str(tmp_path / "ncl.npy"), "--norm", "batch", "--gamma", "1 2 3", "--no-exact")
    assert channels["axis"] == [0, 2]
    right = (x - x.mean((0, 2), keepdims=True)) / np.sqrt(x.var((0, 2), keepdims=True) + 1e-5) * np.c_[[1, 2, 3]]
    for row, own in zip(channels["rows"], right.transpose(1, 0, 2), strict=True):
        assert row["output"]["float"] == pytest.approx(own.ravel().tolist(), abs=1e-13)
    many = compute("-i", "-", stdin="\n".join(f"{i} {i * i} 1" for i in range(40))).out
    assert "28 more are not shown" in many


def test_markdown_and_csv_and_latex() -> None:
    asked = ("3", "5", "2", "6", "--gamma", "1/2,1,3/2,2", "--eps", "0")
    table = list(csv.DictReader(io.StringIO(compute(*asked, "-f", "csv").out)))
    assert [row["output_exact"] for row in table] == ["-sqrt(10)/10", "sqrt(10)/5", "-3*sqrt(10)/5", "4*sqrt(10)/5"]
    assert [float(row["output_float"]) for row in table] == pytest.approx(
        [-0.31623, 0.63246, -1.89737, 2.52982], abs=1e-5
    )
    assert {row["mean_exact"] for row in table} == {"4"}
    markdown = compute(*asked, "-f", "markdown").out
    assert markdown.startswith("# ")
    assert markdown.count("```") % 2 == 0
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len({line.replace(r"\|", "").count("|") for line in rows}) == 1
    latex = compute(*asked, "-f", "latex").out
    assert sorted(re.findall(r"\\begin\{(\w+\*?)\}", latex)) == sorted(re.findall(r"\\end\{(\w+\*?)\}", latex))
    assert latex.count("{") == latex.count("}")
    assert r"\sqrt{10}" in latex
    assert latex.isascii()


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX here")
def test_latex_compiles(tmp_path: Path) -> None:
    parts = []
    for asked in ("3 5 2 6 --gamma 1/2,1,3/2,2", "600 -600 0 0 --dtype float16", "2 4 1 3 --backward 1 0 0 0",
                  "1e400 1", "[[1,2,4],[3,5,9]] --norm batch", "1 2 3 --norm rms --no-exact"):  # fmt: skip
        done = compute(*asked.split(), "-f", "latex")
        assert done.code == 0
        parts.append(done.out)
    source = "\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n%s\n\\end{document}\n"
    (tmp_path / "a.tex").write_text(source % "\n\n".join(parts))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert made.returncode == 0, made.stdout[-1500:]


def test_json_is_one_ascii_line_and_exact_strings_read_back() -> None:
    done = compute("-sqrt(2)", "1/3", "pi", "--json")
    assert done.out.isascii()
    assert done.out.count("\n") == 1
    found = json.loads(done.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert (found["schema"], found["norm"], found["axis"], found["shape"]) == ("lnorm/compute/1", "layer", [-1], [3])
    assert found["eps"] == {"exact": "1/100000", "float": 1e-05}
    for entry in found["rows"][0]["steps"]:
        texts = entry["exact"] if isinstance(entry["exact"], list) else [entry["exact"]]
        floats = entry["float"] if isinstance(entry["float"], list) else [entry["float"]]
        for text, number in zip(texts, floats, strict=True):
            assert abs(float(parse_number(text)) - number) < 1e-15
