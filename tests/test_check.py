"""`check`: right functions conform, each wrong one is found wrong in its own way, nothing breaks lnorm."""

from __future__ import annotations

import importlib.util
import json
import tomllib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lnorm_cli.check import judge
from lnorm_cli.check.cases import Case, case_ids, load_cases
from lnorm_cli.check.loading import split_target
from lnorm_cli.check.process import Limits
from lnorm_cli.check.report import Report
from lnorm_cli.check.run import check
from lnorm_cli.errors import InputError

FUNCTIONS = Path(__file__).parent / "functions"
EXPECTED: dict[str, dict[str, Any]] = tomllib.loads((FUNCTIONS / "expected.toml").read_text(encoding="utf-8"))
QUICK = Limits(seconds=15.0, loading=60.0, memory=1 << 27)
TAKEN = ("gamma", "beta", "eps")


def run(file: Path, name: str = "layer_norm", **options: Any) -> Report:
    return check(f"{file}:{name}", limits=options.pop("limits", QUICK), **options)


def written(folder: Path, text: str, name: str = "mine.py") -> Path:
    path = folder / name
    path.write_text("import numpy as np\n" + text, encoding="utf-8")
    return path


# --- the collection of right and wrong functions ---------------------------------------------------------


def test_every_function_is_expected() -> None:
    files = {str(path.relative_to(FUNCTIONS)) for path in FUNCTIONS.glob("*/*.py")}
    assert files == set(EXPECTED)
    assert sum(file.startswith("right/") for file in files) >= 14
    assert sum(file.startswith("wrong/") for file in files) >= 36


@pytest.mark.parametrize("file", EXPECTED)
def test_collection(file: str) -> None:
    entry = EXPECTED[file]
    needs = entry.get("needs")
    if needs and importlib.util.find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed")
    limits = QUICK
    if entry.get("reason") == "timed out":
        limits = replace(QUICK, seconds=2.0 if "cases" in entry else 0.4)
    report = run(FUNCTIONS / file, entry["name"], norm=entry.get("norm", "layer"), limits=limits)
    if file.startswith("right/"):
        assert not report.failures, report.failures[0]
        assert report.verdict == "conforms"
        assert report.faults == ()
        return
    assert report.verdict == "fails"
    assert entry["reason"] in {result.judgement.reason for result in report.failures}
    if "cases" in entry:
        assert [result.case.id for result in report.failures] == entry["cases"]
    assert list(report.faults) == entry["faults"]


# --- what decides a case ---------------------------------------------------------------------------------


def make(x: Any, *, gamma: Any = 1.0, beta: Any = 0.0, eps: str = "1e-5", dtype: str = "float64") -> Case:
    array = np.array(x, dtype=np.float64)
    width = array.shape[-1]
    return Case(
        id="made",
        what="made here",
        kind="values",
        norm="layer",
        x=array,
        gamma=np.broadcast_to(np.array(gamma, dtype=np.float64), (width,)),
        beta=np.broadcast_to(np.array(beta, dtype=np.float64), (width,)),
        eps=Fraction(eps),
        dtype=dtype,
    )


def answer(values: Any, dtype: str = "float64") -> dict[str, Any]:
    array = np.array(values, dtype=np.float64)
    return {"result": {"shape": list(array.shape), "dtype": dtype, "values": array.reshape(-1).tolist()}}


def test_expected_values_are_the_textbook_ones() -> None:
    # mean 4, variance 2: -sqrt(2), 0, 0, sqrt(2) as eps goes to 0
    assert make([2, 4, 4, 6], eps="1e-40").expected == pytest.approx([-(2**0.5), 0, 0, 2**0.5], rel=1e-15)


def test_a_column_is_not_a_row_even_when_all_values_are_equal() -> None:
    # numpy compares (3,) with (3, 1) by broadcasting: https://github.com/numpy/numpy/issues/21432
    judgement = judge.judge_call(make([5, 5, 5]), answer([[0.0], [0.0], [0.0]]))
    assert (judgement.outcome, judgement.reason) == ("fail", "wrong shape")


@pytest.mark.parametrize("empty", [[], [[]]])
def test_an_empty_result_never_passes(empty: Any) -> None:
    # np.allclose([], 1) is True: https://github.com/numpy/numpy/issues/27457
    judgement = judge.judge_call(make([5, 5, 5]), answer(empty))
    assert (judgement.outcome, judgement.reason) == ("fail", "wrong shape")


def test_zeros_are_wrong_for_tiny_outputs() -> None:
    # np.allclose([0, 0, 0], [-1.2e-9, 0, 1.2e-9]) is True: https://github.com/numpy/numpy/pull/10214
    case = make([1, 2, 3], gamma=1e-9)
    assert judge.judge_call(case, answer([0.0, 0.0, 0.0])).reason == "wrong values"
    assert judge.judge_call(case, answer(case.expected)).outcome == "pass"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_unbiased_variance_of_768_values_is_wrong(dtype: str) -> None:
    x = np.random.default_rng(5).normal(size=768).astype(dtype)
    case = make(x, dtype=dtype)
    biased, unbiased = ((x - x.mean()) / np.sqrt(x.var(ddof=ddof) + 1e-5) for ddof in (0, 1))
    assert judge.judge_call(case, answer(biased, dtype)).outcome == "pass"
    assert judge.judge_call(case, answer(unbiased, dtype)).outcome == "fail"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("offset", [0, 1, 1000, 40000])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_two_pass_results_are_never_accused(dtype: str, offset: float, scale: float) -> None:
    random = np.random.default_rng(11)
    for n in (1, 2, 3, 8, 100):
        x = (offset + scale * random.normal(size=(4, n))).astype(dtype)
        gamma, beta = random.normal(size=(2, n)).astype(dtype)
        y = gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) + beta
        assert judge.judge_call(make(x, gamma=gamma, beta=beta, dtype=dtype), answer(y, dtype)).outcome == "pass"


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_non_finite_values_fail(value: str) -> None:
    judgement = judge.judge_call(make([1, 2, 3]), answer([float(value), 0.0, 1.2247]))
    assert judgement.reason == "wrong values"
    assert "nan or infinite" in judgement.message


def test_float32_answers_to_float64_are_judged_as_float32() -> None:
    case = make([1.0, 2.0, 4.5])
    rounded = np.float32(case.expected)
    assert judge.judge_call(case, answer(rounded, "float32")).outcome == "pass"
    assert judge.judge_call(case, answer(rounded, "float64")).outcome == "fail"


# --- the cases -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_cases_cover_what_they_should(norm: str) -> None:
    cases = load_cases(norm, taken=TAKEN)
    assert {case.x.ndim for case in cases} == {1, 2, 3}
    assert {"float64", "float32", "float16", "bfloat16"} == {case.dtype for case in cases}
    assert all(case.note == (case.dtype in ("float16", "bfloat16")) for case in cases)
    for case in cases:
        if case.id != "tiny-gamma":
            assert len(set(case.gamma)) == case.gamma.size, f"{case.id}: gamma repeats"
            assert len(set(case.beta)) == case.beta.size, f"{case.id}: beta repeats"


def test_case_ids_are_unique() -> None:
    assert len(set(case_ids())) == len(case_ids())


@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_expected_values_agree_with_a_plain_calculation(norm: str) -> None:
    for case in load_cases(norm, taken=TAKEN):
        x = case.x.astype(np.longdouble)
        centred = x - x.mean(-1, keepdims=True) if norm == "layer" else x
        root = np.sqrt((centred * centred).mean(-1, keepdims=True) + float(case.eps))
        plain = case.gamma * centred / root + case.beta
        assert (np.abs(plain - case.expected) <= case.tolerance("float64")).all(), case.id


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_a_dtype_asked_for_decides(dtype: str) -> None:
    cases = load_cases("layer", taken=TAKEN, dtype=dtype)
    assert cases
    assert all(case.dtype == dtype and not case.note and np.isfinite(case.x).all() for case in cases)


def test_companion_cases_share_some_rows_and_not_others() -> None:
    for case in load_cases("layer", taken=TAKEN):
        if case.other is not None:
            shared = (case.x == case.other).all(axis=-1)
            assert shared.any()
            assert not shared.all()


# --- what the user's code may do -------------------------------------------------------------------------

RIGHT = """
def layer_norm(x, gamma, beta, eps):
    {0}
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) + beta
"""


def test_values_are_judged_against_the_original_input(tmp_path: Path) -> None:
    # a changed argument is its own finding, not wrong values: PrairieLearn/PrairieLearn#5405
    report = run(FUNCTIONS / "wrong" / "changes_argument.py")
    [failure] = report.failures
    assert failure.judgement.reason == "argument changed"
    assert failure.case.x.tolist() == [1.0, 2.0, 4.0, 9.0]
    assert failure.judgement.expected is not None
    assert failure.judgement.expected.tolist() == [1.0, 2.0, 4.0, 9.0]


def test_a_worker_that_dies_is_replaced_for_the_remaining_cases() -> None:
    report = run(FUNCTIONS / "wrong" / "os_exit_on_batches.py")
    outcomes = {result.case.id: result.outcome for result in report.results}
    assert outcomes["batch"] == "error"
    assert outcomes["causality"] == outcomes["float32"] == "pass"
    assert report.skipped == ()


def test_code_that_never_answers_is_not_asked_for_ever() -> None:
    report = run(FUNCTIONS / "wrong" / "endless_loop.py", limits=replace(QUICK, seconds=0.2))
    assert [result.outcome for result in report.results] == ["timeout"] * 3
    assert "leak" in report.skipped
    assert report.verdict == "fails"


def test_what_exits_is_told_apart() -> None:
    said = {
        name: run(FUNCTIONS / "wrong" / f"{name}.py", only=["one-row"]).failures[0].judgement.message
        for name in ("sys_exit", "keyboard_interrupt", "os_exit", "crashes", "raises", "recursion")
    }
    assert "sys.exit(bye)" in said["sys_exit"]
    assert "KeyboardInterrupt" in said["keyboard_interrupt"]
    assert "exit code 3" in said["os_exit"]
    assert "SIGSEGV" in said["crashes"]
    assert "NotImplementedError: write me [/] first (line 5" in said["raises"]
    assert "RecursionError" in said["recursion"]


def test_the_smallest_input_still_fails() -> None:
    report = run(FUNCTIONS / "wrong" / "unbiased_variance_ddof.py", only=["batch"])
    [failure] = report.failures
    assert failure.case.x.shape == (2,)
    right = judge.judge_call(failure.case, answer(failure.case.expected))
    assert right.outcome == "pass"
    got, expected = failure.judgement.got, failure.judgement.expected
    assert got is not None
    assert expected is not None
    assert not np.allclose(got, expected)


@pytest.mark.parametrize(
    "nuisance",
    [
        "import sys; sys.stdin.read()",
        "import warnings; warnings.warn('careful')",
        "import subprocess; subprocess.Popen(['sleep', '2'])",
        "import os; os.write(1, b'{}\\n'); os.write(2, b'{}\\n')",
        "import os; os.chdir('/')",
        "import json; json.dumps = None",
    ],
)
def test_nuisances_do_not_disturb(tmp_path: Path, nuisance: str) -> None:
    report = run(written(tmp_path, RIGHT.format(nuisance)), only=["one-row", "matrix", "leak"])
    assert report.verdict == "conforms"
    assert len(report.results) == 3


def test_a_name_of_the_standard_library_beside_the_file_does_no_harm(tmp_path: Path) -> None:
    for name in ("json", "tomllib", "inspect"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('shadowed')\n")
    assert run(written(tmp_path, RIGHT.format("pass")), only=["one-row"]).verdict == "conforms"


def test_nothing_is_written_beside_the_file(tmp_path: Path) -> None:
    run(written(tmp_path, RIGHT.format("pass")), only=["one-row"])
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]


@pytest.mark.parametrize(
    ("signature", "body"),
    [
        ("x, gamma, beta, eps, /", ""),
        ("gamma, beta, x, eps", ""),
        (
            "tokens, ln_weight, ln_bias, norm_eps",
            "x, gamma, beta, eps = tokens, ln_weight, ln_bias, norm_eps",
        ),
        ("x, dim, gamma, beta, epsilon", "eps = epsilon"),
        ("x, d_model, g, b, e", "gamma, beta, eps = g, b, e; assert x.shape[-1] == d_model"),
        ("x, gamma=None, beta=None, eps=1e-5, *, inplace=False", ""),
        (
            "x, normalized_shape, weight, bias, eps",
            "gamma, beta = weight, bias; assert len(normalized_shape) == 1",
        ),
    ],
)
def test_signatures(tmp_path: Path, signature: str, body: str) -> None:
    text = RIGHT.format(body or "pass").replace("x, gamma, beta, eps", signature, 1)
    assert run(written(tmp_path, text), only=["one-row", "matrix", "other-epsilon"]).verdict == "conforms"


@pytest.mark.parametrize(
    "constructor",
    [
        "d_model=512, eps=1e-6",
        "size, eps=1e-6, dtype=None",
        "normalized_shape, epsilon=1e-3, elementwise_affine=True",
        "dim, eps=1e-5, bias=True, weight=True",
    ],
)
def test_classes(tmp_path: Path, constructor: str) -> None:
    size, eps = (part.partition("=")[0].strip() for part in constructor.split(",")[:2])
    text = f"""
class LayerNorm:
    def __init__(self, {constructor}):
        self.scale = 0.5
        self.g, self.b = np.ones({size}), np.zeros({size})
        self.eps = {eps}

    def forward(self, x):
        out = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + self.eps)
        return out * self.g + self.b
"""
    assert run(written(tmp_path, text), "LayerNorm", only=["one-row", "matrix"]).verdict == "conforms"


# --- what cannot be loaded -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "what", "hint"),
    [
        ("def layer_norm(x): return x", "layer_nrom", "has no 'layer_nrom'", "did you mean"),
        ("value = 3", "value", "'int', not a function", "layer_norm"),
        (
            "import nothere",
            "f",
            "line 2: ModuleNotFoundError: No module named 'nothere'",
            "where lnorm is installed",
        ),
        ("1 / 0", "f", "line 2: ZeroDivisionError", "must load"),
        ("raise SystemExit(4)", "f", "line 2: SystemExit: 4", "__main__"),
        ("import os; os._exit(4)", "f", "exit code 4 while it was loading", "__main__"),
        (
            "def f(x, temperature): return x",
            "f",
            "requires 'temperature'",
            "def adapter(x, gamma, beta, eps)",
        ),
        ("def f(*arguments): return 1", "f", "names no argument that could be x", "def adapter"),
        ("class F:\n    def __init__(self, n): pass", "F", "has no __call__ and no forward", "def __call__"),
    ],
)
def test_what_cannot_be_loaded_is_explained(tmp_path: Path, text: str, name: str, what: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        run(written(tmp_path, text), name)
    assert what in caught.value.what
    assert hint in caught.value.hint


def test_a_file_that_never_finishes_loading(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="still loading after 1 s"):
        run(written(tmp_path, "while True: pass"), limits=Limits(seconds=0.5, loading=1.0))


def test_a_syntax_error_is_shown_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, "def layer_norm(x:\n    return x\n")
    with pytest.raises(InputError) as caught:
        split_target(f"{path}:layer_norm")
    assert "line 2" in caught.value.what
    assert caught.value.text == "def layer_norm(x:"
    assert caught.value.text[caught.value.position or 0] == "("


@pytest.mark.parametrize(
    ("target", "what"),
    [
        ("", "no file is named"),
        (":f", "no file is named"),
        ("nowhere.py:f", "there is no file nowhere.py"),
        ("{0}", "which function or class"),
        ("{0}:", "which function or class"),
        ("{1}:f", "is a folder"),
    ],
)
def test_targets_that_name_nothing(tmp_path: Path, target: str, what: str) -> None:
    path = written(tmp_path, "def layer_norm(x): return x\n")
    with pytest.raises(InputError, match=what) as caught:
        split_target(target.format(path, tmp_path))
    if "which" in what:
        assert f"{path}:layer_norm" in caught.value.hint


def test_an_unknown_case_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no case 'leek'") as caught:
        run(written(tmp_path, "def layer_norm(x): return x\n"), only=["leek"])
    assert "leak" in caught.value.hint


@pytest.mark.parametrize(
    ("file", "options"),
    [
        ("loops_on_lists", {"dtype": "float16"}),
        ("loops_on_lists", {"only": ["dtype-kept"]}),
        ("numpy_two_pass", {"only": ["finite-gradients"]}),
    ],
)
def test_no_case_is_no_pass(file: str, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="no case to run"):
        run(FUNCTIONS / "right" / f"{file}.py", **options)


def test_a_case_asked_for_by_name_decides() -> None:
    report = run(FUNCTIONS / "right" / "numpy_two_pass.py", only=["float16-overflow"])
    assert report.verdict == "fails"
    assert report.faults == ("overflow",)


def test_json_is_plain_data() -> None:
    report = run(FUNCTIONS / "wrong" / "nan_on_constant_rows.py", only=["constant-rows", "leak"])
    document = json.loads(json.dumps(report.json(), allow_nan=False))
    assert document["schema"] == "lnorm/check/1"
    assert document["verdict"] == "fails"
    [failing, passing] = document["cases"]
    assert (failing["id"], failing["outcome"], failing["reason"]) == ("constant-rows", "fail", "wrong values")
    assert set(failing["got"]) == {"nan"}
    assert failing["input"]["eps"] == 1e-5
    assert passing["outcome"] == "pass"
