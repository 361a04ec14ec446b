"""The catalogue of mistakes, and whether the diagnosis names each of them and accuses no right answer."""

from __future__ import annotations

import ast
import json
import random
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import mistakes
import numpy as np
import pytest
import right_answers

from lnorm_cli.faults import Diagnosis, catalogue, diagnose, diagnose_arrays, fault, parse_answer, wrong_spec
from lnorm_cli.norm import BATCH, LAYER, RMS, Spec, trace
from lnorm_cli.reading import parse_vector

DATA = Path(__file__).parent / "data"
CASES = json.loads((DATA / "diagnose_cases.json").read_text(encoding="utf-8"))

IDS = [
    "unbiased-variance",
    "sum-not-mean",
    "variance-not-root",
    "division-omitted",
    "mean-absolute-deviation",
    "not-centered",
    "second-moment",
    "rms-for-layer",
    "layer-for-rms",
    "epsilon-omitted",
    "epsilon-outside-root",
    "epsilon-after-division",
    "epsilon-value",
    "gamma-omitted",
    "beta-omitted",
    "affine-omitted",
    "gamma-beta-swapped",
    "beta-before-gamma",
    "one-plus-gamma",
    "beta-subtracted",
    "gamma-divided",
    "affine-first-only",
    "gamma-first-only",
    "beta-first-only",
    "affine-reversed",
    "wrong-axis",
    "all-axes",
    "missing-keepdims",
    "padding-counted",
    "one-pass-variance",
    "low-precision-statistics",
    "overflow",
    "residual-omitted",
    "residual-of-normalized",
    "post-for-pre",
    "pre-for-post",
    "final-norm-omitted",
    "other-step",
    "arithmetic-slip",
    "sign-flipped",
    "rounded-intermediate",
    "carried-forward",
]


def names(result: Diagnosis) -> set[frozenset[str]]:
    """The explanations of a diagnosis, each a set of ids."""
    return {frozenset(result.faults), *(frozenset(name.split("+")) for name in result.alternatives)}


def told(x: Any, given: Any, **options: Any) -> tuple[str, tuple[str, ...]]:
    result = diagnose(x, given, **options)
    return result.verdict, result.faults


# ---- the catalogue


def test_every_named_fault_is_in_the_catalogue() -> None:
    assert set(IDS) <= set(catalogue())


@pytest.mark.parametrize("name", list(catalogue()))
def test_an_entry_says_what_happened_and_how_to_mend_it_in_a_sentence_each(name: str) -> None:
    entry = fault(name)
    for sentence in (entry.happened, entry.mend, entry.happened_rms or entry.happened):
        assert sentence[0].isupper() or sentence.startswith("x ")
        assert sentence.endswith(".")
        assert ". " not in sentence.replace("i.e. ", "")
        assert sentence.isascii()
    for report in entry.reports:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+#\d+|https://\S+", report)


@pytest.mark.parametrize("asked", [LAYER, RMS])
@pytest.mark.parametrize("name", list(catalogue()))
def test_a_fault_that_is_a_spec_is_another_spec_and_gives_other_numbers(name: str, asked: Spec) -> None:
    wrong = fault(name).spec(asked)
    if wrong is None:
        return
    assert wrong != asked
    x = [[1, 2, 4], [3, 5, 9], [8, 0, 1]]
    arguments: dict[str, Any] = {"gamma": ["2", "0.5", "-1"], "beta": ["1", "-2", "0.5"], "eps": "0.5"}
    same = bool(np.all(trace(x, asked, **arguments).output == trace(x, wrong, **arguments).output))
    assert same == (name == "one-pass-variance")  # exact algebra; only rounding makes it a mistake


def test_faults_together_are_the_merged_changes_and_contradictions_are_refused() -> None:
    assert wrong_spec(["unbiased-variance", "epsilon-outside-root"]) == Spec(divisor="n-1", epsilon="outside")
    with pytest.raises(ValueError, match="changes what another"):
        wrong_spec(["unbiased-variance", "sum-not-mean"])
    with pytest.raises(ValueError, match="not a wrong Spec"):
        wrong_spec(["carried-forward"])
    with pytest.raises(KeyError):
        fault("no-such-fault")


def test_the_oracle_knows_nothing_of_the_program() -> None:
    tree = ast.parse(Path(mistakes.__file__).read_text(encoding="utf-8"))
    imported = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    imported += [alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names]
    assert not [name for name in imported if name.startswith("lnorm")]


# ---- public reports


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['source'].split(' ')[0]}-{case['verdict']}")
def test_public_report(case: dict[str, Any]) -> None:
    spec = {"layer": LAYER, "rms": RMS, "batch": BATCH}[case.get("norm", "layer")]
    if "axis" in case:
        spec = Spec(axes=tuple(case["axis"]))
    result = diagnose(
        np.array(case["x"]),
        np.array(case["given"], dtype=object),
        gamma=np.array(case.get("gamma", "1")),
        beta=np.array(case.get("beta", "0")),
        eps=case.get("eps", "1e-5"),
        spec=spec,
        dtype=case.get("dtype"),
        residual=np.array(case["residual"]) if "residual" in case else None,
        order=case.get("order"),
    )
    assert (result.verdict, list(result.faults)) == (case["verdict"], case["faults"]), result
    assert case.get("evidence", "") in " ".join(result.evidence)
    assert case.get("note", "") in " ".join(result.notes)


def test_consecutive_integers_far_from_zero() -> None:
    """pytorch/pytorch#81090: 32 integers near 6.4e6 give what 0 to 31 give; a drift there is float32's rounding."""
    x = np.arange(6399968, 6400000).astype(np.float32)
    right = ((np.arange(32) - 15.5) / np.sqrt(341 / 4 + 1e-5)).astype(np.float32)
    assert diagnose_arrays(x, right).verdict == "correct"
    assert diagnose_arrays(x, (right * np.float32(1.6812 / 1.6787))).faults == ("large-offset-rounding",)
    assert diagnose_arrays(x, (right * np.float32(1.2))).verdict == "wrong"


def test_a_negative_one_pass_variance() -> None:
    """NVIDIA/trt-samples-for-hackathon-cn#88: 10239 times 256 and one 255, nan from a negative variance."""
    x = np.full(10240, 256, np.float32)
    x[-1] = 255
    assert diagnose_arrays(x, np.full(10240, np.nan, np.float32)).faults == ("one-pass-variance",)


ONNX = json.loads((DATA / "onnx.json").read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("case", ONNX, ids=lambda case: case["name"])
def test_onnx_vectors_are_right_and_their_unbiased_kin_are_not(case: dict[str, Any]) -> None:
    x, y = (np.array(case[name], np.float32).reshape(case["shape"]) for name in ("x", "y"))
    gamma = np.array(case["scale"], np.float32).reshape(case["scale_shape"])
    beta = np.array(case["bias"], np.float32).reshape(case["scale_shape"]) if "bias" in case else np.float32(0)
    rank = x.ndim
    spec = LAYER if case["op"] == "LayerNormalization" else RMS
    axes = tuple(range(case["axis"] % rank, rank))
    spec = Spec(axes=axes, numerator=spec.numerator, spread=spec.spread)
    options: dict[str, Any] = {"gamma": gamma, "beta": beta, "eps": float(np.float32(case["epsilon"])), "spec": spec}
    assert diagnose_arrays(x, y, **options).verdict == "correct"
    n = int(np.prod([x.shape[axis] for axis in axes]))
    wrong = ((y - beta) * np.float32(np.sqrt((n - 1) / n)) + beta).astype(np.float32)
    assert diagnose_arrays(x, wrong, **options).verdict == "wrong"


# ---- every mistake, by an independent calculation


@pytest.mark.parametrize("text", mistakes.VECTORS[1:17:5], ids=lambda text: text[0])
@pytest.mark.parametrize("digits", [3, 4, 16])
def test_single_mistakes_are_named(text: tuple[str, str, str, str], digits: int) -> None:
    check_mistakes(text, digits, mistakes.singles())


@pytest.mark.parametrize("text", mistakes.VECTORS[2:18:5], ids=lambda text: text[0])
def test_pairs_of_mistakes_are_named(text: tuple[str, str, str, str]) -> None:
    pairs = random.Random(text[0]).sample(list(mistakes.pairs()), 12)
    check_mistakes(text, 16, pairs)
    check_mistakes(text, 4, pairs[:4])


def check_mistakes(text: tuple[str, str, str, str], digits: int, cases: list[tuple[str, ...]]) -> None:
    x, gamma, beta = map(mistakes.numbers, text[:3])
    eps = Fraction(text[3])
    simpler = [(), *(mistakes.singles() if len(cases[0]) > 1 else [])]
    simpler_texts = {mistakes.typed(mistakes.answer(x, gamma, beta, eps, faults), digits) for faults in simpler}
    options: dict[str, Any] = {"gamma": parse_vector(text[1]), "beta": parse_vector(text[2]), "eps": eps}
    missed = []
    for faults in cases:
        given = mistakes.typed(mistakes.answer(x, gamma, beta, eps, faults), digits)
        if given in simpler_texts:
            continue  # these digits cannot show it
        result = diagnose(parse_vector(text[0]), given, **options)
        if frozenset(faults) not in names(result):
            missed.append((faults, given, result.verdict, result.faults, result.alternatives))
    assert not missed


RMS_CASES = {
    "layer-for-rms": (),
    "not-centered": ("not-centered",),
    "second-moment": ("second-moment",),
    **{
        name: ("rms-for-layer", name)
        for name, stage in mistakes.STAGES.items()
        if name == "variance-dropped" or not {"numerator", "spread", "pool"} & set(stage.split())
    },
}


@pytest.mark.parametrize("text", mistakes.VECTORS[2:20:6], ids=lambda text: text[0])
def test_mistakes_in_rmsnorm_are_named(text: tuple[str, str, str, str]) -> None:
    x, gamma, beta = map(mistakes.numbers, text[:3])
    eps = Fraction(text[3])
    options: dict[str, Any] = {"gamma": parse_vector(text[1]), "beta": parse_vector(text[2]), "eps": eps, "spec": RMS}
    for name, made in RMS_CASES.items():
        given = mistakes.typed(mistakes.answer(x, gamma, beta, eps, made), 14)
        result = diagnose(parse_vector(text[0]), given, **options)
        assert frozenset({name}) in names(result), (name, given, result)
    right = mistakes.typed(mistakes.answer(x, gamma, beta, eps, ("rms-for-layer",)), 14)
    assert diagnose(parse_vector(text[0]), right, **options).verdict == "correct"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_mistakes_in_a_program_pasted_as_text_are_named(dtype: str) -> None:
    """The last digits are the program's own rounding, not those of exact arithmetic."""
    text = mistakes.VECTORS[3]
    x, gamma, beta = (np.array(part.split(), float).astype(dtype) for part in text[:3])
    n, mean = x.size, x.mean()
    variance, eps = ((x - mean) ** 2).mean(), np.asarray(1e-5, dtype)
    outputs = {
        "unbiased-variance": (x - mean) / np.sqrt(variance * n / (n - 1) + eps) * gamma + beta,
        "variance-not-root": (x - mean) / (variance + eps) * gamma + beta,
        "not-centered": x / np.sqrt(variance + eps) * gamma + beta,
        "beta-before-gamma": ((x - mean) / np.sqrt(variance + eps) + beta) * gamma,
        "one-plus-gamma": (x - mean) / np.sqrt(variance + eps) * (1 + gamma) + beta,
    }
    for name, output in outputs.items():
        for form in (str, lambda v: repr(float(v))):
            given = " ".join(map(form, output.astype(dtype)))
            result = diagnose(parse_vector(text[0]), given, gamma=parse_vector(text[1]), beta=parse_vector(text[2]))
            assert result.faults == (name,), (given, result)


def test_right_answers_are_not_accused() -> None:
    accused = []
    for case in right_answers.cases(random.Random(20), 280):
        result = case.diagnose()
        if not result.accepted:
            accused.append((case, result.verdict, result.faults))
    assert not accused


# ---- near misses


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("offset", [0.0, 40.0])
def test_unbiased_variance_at_768_features(dtype: str, offset: float) -> None:
    rng = np.random.default_rng(3)
    x = (rng.normal(offset, 1, (4, 768))).astype(dtype)
    gamma, beta = (rng.normal(1, 0.3, 768).astype(dtype), rng.normal(0, 0.3, 768).astype(dtype))
    mean = x.mean(-1, keepdims=True)
    for ddof, verdict, faults in ((1, "wrong", ("unbiased-variance",)), (0, "correct", ())):
        y = (x - mean) / np.sqrt(x.var(-1, ddof=ddof, keepdims=True) + np.asarray(1e-5, dtype)) * gamma + beta
        result = diagnose_arrays(x, y, gamma=gamma, beta=beta)
        assert (result.verdict, result.faults) == (verdict, faults)


@pytest.mark.parametrize("digits", [5, 6, 9])
def test_unbiased_variance_at_768_features_typed(digits: int) -> None:
    x = np.random.default_rng(4).normal(0, 1, 768).round(3)
    texts = [f"{v:.3f}" for v in x]
    for ddof, verdict, faults in ((1, "wrong", ("unbiased-variance",)), (0, "correct", ())):
        y = (x - x.mean()) / np.sqrt(x.var(ddof=ddof) + 1e-5)
        assert told(np.array(texts), " ".join(f"{v:.{digits - 1}e}" for v in y)) == (verdict, faults)


def test_zeros_for_tiny_values_are_wrong() -> None:
    assert diagnose([1, 2, 3], "0 0 0", gamma="1e-9").verdict == "wrong"
    assert diagnose([1, 2, 3], "0.000 0.000 0.000", gamma="1e-9").verdict == "wrong"
    assert diagnose([1, 2, 3], "-1.2247e-9 1e-21 1.2247e-9", gamma="1e-9").verdict == "correct"
    assert diagnose([1, 2, 3], "-1.2247e-9 1e-13 1.2247e-9", gamma="1e-9").verdict == "wrong"
    for dtype in (np.float32, np.float64):
        assert diagnose_arrays(np.array([1, 2, 3], dtype), np.zeros(3, dtype), gamma=1e-9).verdict == "wrong"


def test_right_values_in_another_order() -> None:
    result = diagnose([1, 2, 4, 9, 3], "-0.6462 -1.0051 0.0718 1.8667 -0.2872")
    assert (result.verdict, result.faults) == ("wrong", ("wrong-order",))
    assert "y[0] holds the value of y[1]" in result.evidence[0]


def test_wrong_lengths_and_no_numbers_are_malformed_never_broadcast() -> None:
    for given in ("0.5", "1 2", "", "1 2 abc", "[[-1.2247], [0], [1.2247]]", "1 2,,3"):
        assert diagnose([1, 2, 3], given).verdict == "malformed", given
    for shape in ((1,), (3, 1), (1, 3), (0,)):
        assert diagnose_arrays(np.array([5.0, 5.0, 5.0]), np.zeros(shape)).verdict == "malformed"


# ---- form


def test_the_document_has_the_fields_of_its_schema_and_reads_back() -> None:
    given = parse_answer("nan inf 1.5")
    document = diagnose([1, 2, 4], given).json()
    assert document["schema"] == "lnorm/diagnose/1"
    assert {"verdict", "faults", "alternatives", "implied", "message"} <= set(document)
    assert json.loads(json.dumps(document, allow_nan=False)) == document
