"""`lnorm diagnose` as a command: files, exit codes, text in 40 columns, JSON, errors."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from conftest import Result, invoke, run

from lnorm_cli.cli.diagnose import EPILOG


def diagnose(*arguments: str, **options: Any) -> Result:
    return invoke("diagnose", *arguments, **options)


def document(*arguments: str) -> dict[str, Any]:
    done = diagnose(*arguments, "--json")
    assert done.err == ""
    assert done.out.count("\n") == 1
    assert done.out.isascii()
    return json.loads(done.out)  # type: ignore[no-any-return]


EXAMPLES = re.findall(r"^  lnorm (diagnose .*)$", EPILOG, re.MULTILINE)


def test_the_examples_of_the_help_run_and_name_their_mistakes() -> None:
    assert len(EXAMPLES) >= 4
    for example in EXAMPLES:
        done = invoke(*shlex.split(example))
        assert (done.code, done.err) == (1, ""), example
        assert re.match(r"wrong: [a-z-]+\n", done.out), example


def test_the_verdict_comes_first_then_the_mistake_the_numbers_and_how_to_mend_it() -> None:
    done = diagnose("2", "4", "4", "6", "--given", "-1.2247", "0", "0", "1.2247")
    assert (done.code, done.err) == (1, "")
    assert done.lines[:2] == ["wrong: unbiased-variance", "The sum of squares was divided by n - 1 instead of n."]
    places = [done.out.index(part) for part in ("1.633", "1.41422", "first step that differs: variance", "to mend it:")]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("given", "code", "verdict"),
    [
        ("-1.4142 0 0 1.4142", 0, "correct"),
        ("-1.4143 0 0 1.4142", 1, "wrong"),
        ("-1.4 0 1.4", 2, "malformed"),
        ("-1 0 0 1", 0, "undecided"),
        ("-1.4141 0 0 1.4141", 1, "wrong"),
        ("one 0 0 1", 2, "malformed"),
        ("nan nan nan nan", 1, "wrong"),
    ],
)
def test_exit_codes(given: str, code: int, verdict: str) -> None:
    done = diagnose("2 4 4 6", f"--given={given}", "--eps", "0")
    assert (done.code, done.err) == (code, "")
    assert done.out.startswith(verdict)
    assert document("2 4 4 6", f"--given={given}", "--eps", "0")["verdict"] == verdict


def test_json_is_one_document_of_the_schema() -> None:
    found = document("2,4,4,6", "--given", "-1.2247,0,0,1.2247")
    assert found["schema"] == "lnorm/diagnose/1"
    assert (found["verdict"], found["faults"], found["alternatives"]) == ("wrong", ["unbiased-variance"], [])
    assert found["implied"]["mean"] == pytest.approx(4, abs=1e-3)
    assert found["implied"]["standard_deviation"] == pytest.approx(1.632993, abs=1e-3)
    assert "n - 1" in found["message"]


def layer_norm(x: Any, axis: Any = -1, ddof: int = 0) -> Any:
    variance = x.var(axis, keepdims=True, ddof=ddof)
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(variance + x.dtype.type(1e-5))


@pytest.mark.parametrize("suffix", ["npy", "npz", "json", "csv"])
def test_files_of_every_kind(tmp_path: Path, suffix: str) -> None:
    x = np.random.default_rng(2).normal(0, 1, (3, 5)).astype(np.float32)
    y = layer_norm(x, ddof=1)
    for name, array in (("x", x), ("y", y)):
        path = tmp_path / f"{name}.{suffix}"
        if suffix == "npy":
            np.save(path, array)
        elif suffix == "npz":
            np.savez(path, x=array)
        elif suffix == "json":
            path.write_text(json.dumps(array.astype(float).tolist()))
        else:
            path.write_text("\n".join(",".join(map(str, row)) for row in array))
    files = ["-i", str(tmp_path / f"x.{suffix}")]
    for given in (str(tmp_path / f"y.{suffix}"), f"@{tmp_path / f'y.{suffix}'}"):
        assert document(*files, "--given", given)["faults"] == ["unbiased-variance"]
    assert diagnose(*files, "--given", str(tmp_path / f"x.{suffix}")).code == 1


def test_nan_in_a_file_is_evidence(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[[2, 2, 2], [0, 1, 5]]")
    (tmp_path / "y.json").write_text('[["nan", "nan", "nan"], [-0.9258201, -0.4629100, 1.3887301]]')
    found = document("-i", str(tmp_path / "x.json"), "--given", str(tmp_path / "y.json"))
    assert found["faults"] == ["epsilon-omitted"]


def test_axes_norms_and_parameters_of_files(tmp_path: Path) -> None:
    x = np.random.default_rng(3).normal(1, 2, (2, 3, 4, 2))
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", layer_norm(x, (1, 2, 3)))
    np.save(tmp_path / "batch.npy", layer_norm(x, (0, 2, 3)))
    np.save(tmp_path / "g.npy", np.arange(1.0, 3.0))
    files = ["-i", str(tmp_path / "x.npy"), "--given"]
    assert document(*files, str(tmp_path / "y.npy"), "--axis", "1")["faults"] == ["all-axes"]
    assert document(*files, str(tmp_path / "y.npy"), "--axis", "1,2,3")["verdict"] == "correct"
    assert document(*files, str(tmp_path / "batch.npy"), "--norm", "batch")["verdict"] == "correct"
    assert document(*files, str(tmp_path / "batch.npy"))["faults"] == ["wrong-axis"]
    gamma = ["--gamma", f"@{tmp_path / 'g.npy'}"]
    np.save(tmp_path / "z.npy", layer_norm(x))
    assert document(*files, str(tmp_path / "z.npy"), *gamma)["faults"] == ["gamma-omitted"]


def test_bfloat16_files(tmp_path: Path) -> None:
    x = np.random.default_rng(4).normal(0, 1, (2, 16)).astype(ml_dtypes.bfloat16)
    y = layer_norm(x.astype(np.float32)).astype(ml_dtypes.bfloat16)
    for name, array in (("x", x), ("y", y), ("half", y / ml_dtypes.bfloat16(2))):
        np.save(tmp_path / f"{name}.npy", array)
    files = ["-i", str(tmp_path / "x.npy"), "--given"]
    assert document(*files, str(tmp_path / "y.npy"))["verdict"] == "correct"
    found = document(*files, str(tmp_path / "half.npy"))
    assert found["verdict"] == "wrong"
    assert "bfloat16" in found["tolerance"]


def test_a_residual_block() -> None:
    block = ["1", "2", "3", "6", "--residual", "2", "4", "6", "12", "--given", "3", "6", "9", "18"]
    post = diagnose(*block)
    assert post.out.startswith("wrong: pre-for-post\n")
    assert "final-norm-omitted" in post.out
    assert document(*block, "--order", "pre")["verdict"] == "correct"
    assert document(*block, "--order", "final")["faults"] == ["final-norm-omitted"]
    refused = diagnose("1", "2", "--given", "1 2", "--order", "pre")
    assert refused.code == 2
    assert "--residual" in refused.err


def test_forty_columns_and_ascii_suffice() -> None:
    for arguments in (
        ("2 4 4 6", "--given=-1.2247 0 0 1.2247"),
        ("1 0 0 0", "--eps=1e-6", "--given=1.499997000006 -0.499999000002 -0.499999000002 -0.499999000002"),
        ("-1 1", "--given=-1 1", "--eps=0"),
        ("8000 -8000 7600 100", "--norm=rms", "--dtype=float16", "--given=0 0 0 0"),
    ):
        done = diagnose(*arguments, "--ascii", env={"COLUMNS": "40"}, encoding="ascii")
        assert done.err == ""
        assert max(map(len, done.lines)) <= 40
        assert done.out.isascii()


def test_what_was_typed_appears_literally() -> None:
    done = diagnose("1 2 3", "--given=[bold]1[/] 2 3")
    assert done.code == 2
    assert done.out.startswith("malformed")
    done = diagnose("1 2 3", "--given", "1 \x1b[31m2 3")
    assert "\x1b" not in done.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["1", "2", "3"], "no answer given"),
        (["--given", "1", "2", "3"], "no x is left"),
        (["1", "2", "--given", "no-such-file.npy"], "cannot be read"),
        (["3", "3", "3", "--eps", "0", "--given", "0 0 0"], "0/0"),
        (["1", "2", "3", "--gamma", "1", "2", "--given=1 2 3"], "gamma has 2 values"),
        (["1", "2", "3", "--givn", "1"], "did you mean --given"),
        (["1", "2", "3", "--norm", "batch", "--given=1 2 3"], "BatchNorm"),
        (["1", "2", "3", "--given=1 2 3", "--residual=1 2"], "residual has shape"),
    ],
)
def test_invalid_problems_are_refused_with_a_hint(arguments: list[str], words: str) -> None:
    done = diagnose(*arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert "hint: " in done.err
    assert "Traceback" not in done.err


def test_as_a_process_of_its_own() -> None:
    done = run("diagnose", "1", "2", "3", "4", "--norm", "rms", "--given", "-1.342", "-0.447", "0.447", "1.342")
    assert done.code == 1
    assert done.out.startswith("wrong: layer-for-rms\n")
    assert "\x1b" not in done.out


BEYOND = [
    "1 2 4 --residual 1e400,2,3 --given 1,2,3",
    "1e400 2 4 --residual 1,2,3 --given 1e400,2,3",
    "1 2 4 --residual 1,2,1e400 --given 1,2,3 --order pre --dtype float32",
    "1 2 4 --residual 1,2,1.7e308 --given 1,2,4",
    "2 4 4 6 --given 1,2,1e308,4",
    "sqrt(2) 9 pi --given 1 -3 -1e-400",
    "-pi/4 2 1e400 3 --given -1.2247,0,0,1.2247",
]


@pytest.mark.parametrize("asked", BEYOND)
def test_numbers_beyond_float64_are_judged_without_a_warning(asked: str) -> None:
    done = invoke("diagnose", *asked.split())
    assert done.code == 1
    assert done.err == ""


@pytest.mark.parametrize("size", [1e-306, 1e-170, 1e170, 1e306])
def test_arrays_near_the_ends_of_float64_are_judged(size: float, tmp_path: Path) -> None:
    np.save(tmp_path / "y.npy", np.array([[1.0, 2.0, 4.0], [3 * size, size, size]]))
    done = invoke("diagnose", "[[1,2,4],[3,5,9]]", "--given", str(tmp_path / "y.npy"))
    assert (done.code, done.err) == (1, "")
