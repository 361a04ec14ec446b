"""The catalogue of mistakes, and whether the diagnosis names each of them and accuses no right answer."""

from __future__ import annotations

import ast
import json
import math
import random
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import mistakes
import numpy as np
import pytest
import right_answers

from lnorm_cli.errors import UndefinedError
from lnorm_cli.faults import Diagnosis, catalogue, diagnose, diagnose_arrays, fault, parse_answer, wrong_spec
from lnorm_cli.faults.search import levels
from lnorm_cli.faults.words import apart
from lnorm_cli.norm import BATCH, LAYER, RMS, Spec, trace
from lnorm_cli.reading import parse_vector

DATA = Path(__file__).parent / "data"
CASES = json.loads((DATA / "diagnose_cases.json").read_text(encoding="utf-8"))

IDS = [
    "unbiased-variance",
    "sum-not-mean",
    "variance-not-root",
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
    "affine-first-only",
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

X, GAMMA, BETA = [1, 2, 4, 9, 3], ["0.5", "1.5", "-1", "2", "0.8"], ["1", "-0.5", "0.25", "2", "-1"]


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


# ---- digits


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ("-1.5 -0.5 0.5 1.5", "wrong"),
        ("-1.3 -0.4 0.4 1.3", "correct"),
        ("-1.34 -0.447 0.4472 1.34164", "correct"),
        ("-1.341 -0.4472 0.4472 1.341", "rounded"),  # cut off
        ("-1.34164 -0.44721 0.44721 1.34163", "wrong"),
        ("-1 0 0 1", "undecided"),
        ("-1.343 -0.447 0.447 1.342", "wrong"),
    ],
)
def test_typed_numbers_count_at_their_digits(given: str, verdict: str) -> None:
    """Right are -1.341640786, -0.447213595 and their negatives."""
    assert diagnose([1, 2, 3, 4], given, eps=0).verdict == verdict


@pytest.mark.parametrize(
    ("value", "given", "right"),
    [
        ("0.25", "0.25", True),
        ("0.25", "0.3", True),  # the limit itself
        ("0.25", "0.2", True),  # and the other one
        ("0.25", "0.26", False),
        ("0.2500001", "0.2", False),
        ("1/7", "0.1429", True),
        ("1/7", "0.142857", True),
        ("1/7", "0.1430", False),
        ("1270", "1270", True),
        ("1267.9", "1268", True),
        ("1267.9", "1267", False),
    ],
)
def test_limits_are_included_in_exact_decimals(value: str, given: str, right: bool) -> None:
    from lnorm_cli.exact import approximate
    from lnorm_cli.faults.answer import typed_number
    from lnorm_cli.faults.problem import within
    from lnorm_cli.reading import parse_number

    number = typed_number(given)
    assert within(approximate(number.value), approximate(parse_number(value)), number.half, Fraction(0)) is right


def test_a_product_of_rounded_factors_is_rounded() -> None:
    """Normalized -1.265 times 1.5 is -1.898; exactly it is -1.897."""
    found = False
    for n in range(2, 60):
        x = [0, 1, 1, n]
        values = trace(np.array(x, float), arithmetic=_float(), eps=0)["normalized"].value[0]
        given = " ".join(f"{1.5 * round(v, 3) + 1e-12 * np.sign(v):.3f}" for v in values)
        if any(abs(float(text) - 1.5 * v) > 5.1e-4 for text, v in zip(given.split(), values, strict=True)):
            found = True
            result = diagnose(x, given, gamma="1.5", eps=0)
            assert (result.verdict, result.faults) == ("rounded", ("rounded-intermediate",)), (x, given, result)
    assert found


def _float() -> Any:
    from lnorm_cli.arithmetic import Float

    return Float()


def test_working_with_too_few_digits_is_named() -> None:
    """The root kept as 1.4 of 1.41421, the answer typed with five digits."""
    result = diagnose([2, 4, 4, 6], "-1.4286 0 0 1.4286", eps=0)
    assert result.verdict == "wrong"
    assert "rounded-intermediate" in result.faults
    assert "the root" in result.evidence[0]


def test_one_digit_cannot_tell_and_say_so() -> None:
    result = diagnose([1, 2, 3, 4], "-1 0 0 1", eps=0)
    assert result.verdict == "undecided"
    assert "unbiased-variance" in result.alternatives


def test_eight_digits_of_float32_cannot_tell_a_tiny_epsilon_from_none() -> None:
    """Typed exactly, epsilon was left out; as float32 output the numbers are right: both are said."""
    result = diagnose([1, 2, 4], "-1.0690450 -0.26726124 1.3363062", eps="1e-7")
    assert result.verdict == "undecided"
    assert "epsilon-omitted" in result.alternatives
    assert told([1, 2, 4], "-1.06904497 -0.267261242 1.33630621", eps="1e-3") == ("wrong", ("epsilon-omitted",))


def test_zeros_that_only_hold_the_place() -> None:
    """Three digits of 1267.9 are 1270."""
    options: dict[str, Any] = {"gamma": ["0.5", "1", "1.5", "2"], "beta": ["1", "-0.75", "0.25", "3"]}
    assert told([2, 4, 4, 6], "-315 -0.750 0.250 1270", **options) == ("wrong", ("variance-dropped",))
    assert "variance-dropped" not in diagnose([2, 4, 4, 6], "-315 -0.750 0.250 1280", **options).faults


def test_float_output_pasted_as_text_is_right() -> None:
    x = np.array([0.1, 0.2, 0.4, 0.8], np.float32)
    y = (x - x.mean()) / np.sqrt(x.var() + np.float32(1e-5))
    for text in (" ".join(map(str, y)), " ".join(repr(float(v)) for v in y)):
        assert diagnose(["0.1", "0.2", "0.4", "0.8"], text).verdict == "correct"


def test_exact_answers() -> None:
    assert told([2, 4, 4, 6], "-sqrt(2) 0 0 sqrt(2)", eps=0) == ("correct", ())
    assert told([2, 4, 4, 6], "-sqrt(3/2) 0 0 sqrt(3/2)", eps=0) == ("wrong", ("unbiased-variance",))
    assert told([2, 4, 4, 6], "-sqrt(2) 0 0 sqrt(2)", eps="1e-5") == ("wrong", ("epsilon-omitted",))
    unstated = diagnose([2, 4, 4, 6], "-sqrt(2) 0 0 sqrt(2)")
    assert unstated.verdict == "correct"
    assert "epsilon 0" in unstated.notes[0]


# ---- inference


def normalized(deviations: np.ndarray[Any, Any], divisor: float | None = None) -> str:
    root = np.sqrt(np.mean(deviations**2) + 1e-5) if divisor is None else divisor
    z = deviations / root * np.array(GAMMA, float) + np.array(BETA, float)
    return " ".join(f"{v:.5f}" for v in z)


def test_one_early_number_wrong_and_the_rest_right_from_there() -> None:
    x = np.array(X, float)
    d = x - x.mean()
    slipped = d.copy()
    slipped[3] = 5.4
    misread = np.array([1, 2, 4, 8, 3], float)
    for given, step, words in (
        (normalized(x - 3.5), "mean", "With 3.5 for the mean"),
        (normalized(d, np.sqrt(7.0)), "variance", "standard deviation of 2.64575"),
        (normalized(slipped), "deviation", "deviation of x[3] were 5.4 instead of 5.2"),
        (normalized(misread - misread.mean()), "x", "As if x[3] were 8 instead of 9"),
    ):
        result = diagnose(X, given, gamma=GAMMA, beta=BETA)
        assert (result.verdict, result.faults, result.first_step) == ("wrong", ("carried-forward",), step)
        assert words in " ".join(result.evidence)


def test_the_answer_fixes_mean_and_standard_deviation() -> None:
    result = diagnose([2, 4, 4, 6], "-1.2247 0 0 1.2247")
    assert result.implied is not None
    assert result.right is not None
    assert result.implied["mean"] == pytest.approx(4, abs=1e-4)
    assert result.implied["standard_deviation"] == pytest.approx(1.632993, abs=1e-3)
    assert result.right["standard_deviation"] == pytest.approx(1.414217, abs=1e-6)
    assert result.first_step == "variance"
    assert "Divide by n" in result.mend


def test_nothing_known_is_never_a_guess() -> None:
    result = diagnose([1, 5, 2, 7, 3, 8, 4, 13], "1.1 2.2 3.3 -4.4 5.5 6.6 -7.7 8.8")
    assert (result.verdict, result.faults, result.alternatives) == ("wrong", (), ())
    assert result.first_step == "normalized"
    assert "No one mean and standard deviation" in result.evidence[0]
    other = diagnose([1, 2, 4, 9, 3], " ".join(f"{(v - 3.1) / 2.2:.6f}" for v in (1, 2, 4, 9, 3)))
    assert (other.verdict, other.faults) == ("wrong", ())
    assert other.implied is not None
    assert other.implied["mean"] == pytest.approx(3.1, abs=1e-4)
    assert other.implied["standard_deviation"] == pytest.approx(2.2, abs=1e-4)


STOPPED = [
    ("3 5 2 6", "-1.000 1.000 -2.000 2.000", "features-dropped"),
    ("3 5 2 6", "-1 1 -2 2", "rooted-twice"),
    ("2 4 4 6", "-2 0 0 2", "mean-absolute-deviation"),
    ("2 4 1 3", "-0.5 1.5 -1.5 0.5", "mean-absolute-deviation"),
    ("1 2 6", "-2 -1 3", "one-plus-gamma"),
    ("1 2 6 7", "-3.00 -2.00 2.00 3.00", ""),
]


@pytest.mark.parametrize(("x", "given", "also"), STOPPED)
def test_the_deviations_as_the_answer(x: str, given: str, also: str) -> None:
    """The division forgotten is likelier than a rarer mistake that happens to give the same numbers."""
    result = diagnose(x.split(), given)
    assert (result.verdict, result.faults) == ("wrong", ("other-step",))
    assert not also or also in result.alternatives


def test_an_epsilon_of_one_digit_is_recognized_at_any_size() -> None:
    result = diagnose(["3", "5", "2", "6"], "-0.535 0.535 -1.069 1.069")
    assert result.faults == ("epsilon-value",)
    assert "epsilon 1;" in result.evidence[0]


def test_a_gamma_of_ones_explains_no_pairs() -> None:
    assert "one-plus-gamma" not in diagnose(["2", "4", "4", "6"], "-1.633 0 0 1.633").faults


def test_an_exact_answer_without_epsilon_and_another_mistake() -> None:
    result = diagnose(["2", "4", "4", "6"], "sqrt(2) 0 0 -sqrt(2)")
    assert (result.verdict, result.faults, result.first_step) == ("wrong", ("sign-flipped",), "")


@pytest.mark.parametrize(
    ("eps", "words"), [("1e-3", "Keras"), ("1e-6", "Flax"), ("1e-12", "BERT"), ("3e-4", "0.0003"), ("2e-5", "2e-5")]
)
def test_another_epsilon_is_recovered(eps: str, words: str) -> None:
    x = np.array([0.01, 0.02, 0.04, -0.03])
    y = (x - x.mean()) / np.sqrt(x.var() + float(eps))
    result = diagnose(["0.01", "0.02", "0.04", "-0.03"], " ".join(f"{v:.10f}" for v in y))
    assert (result.verdict, result.faults) == ("wrong", ("epsilon-value",))
    assert words in " ".join(result.evidence)


def test_slips_in_single_elements() -> None:
    right = ["-1.0051", "-0.6462", "0.0718", "1.8667", "-0.2872"]
    for place, value, words in ((2, "0.7180", "y[2]"), (3, "-1.8667", "only the sign is wrong")):
        given = [*right[:place], value, *right[place + 1 :]]
        result = diagnose(X, " ".join(given))
        assert (result.verdict, result.faults) == ("wrong", ("arithmetic-slip",))
        assert words in result.evidence[0]


def test_signs_and_other_steps() -> None:
    assert told(X, "1.0051 0.6462 -0.0718 -1.8667 0.2872") == ("wrong", ("sign-flipped",))
    assert told(X, "-2.8 -1.8 0.2 5.2 -0.8") == ("wrong", ("other-step",))
    assert told(X, "7.84 3.24 0.04 27.04 0.64") == ("wrong", ("other-step",))
    assert told([1, 2, 3, 4], "-0.3651 -0.7303 -1.0954 -1.4606", spec=RMS) == ("wrong", ("sign-flipped",))


@pytest.mark.parametrize(
    ("step", "given", "verdict", "faults"),
    [
        ("mean", "3.8", "correct", ()),
        ("variance", "7.76", "correct", ()),
        ("variance", "9.7", "wrong", ("unbiased-variance",)),
        ("variance", "38.8", "wrong", ("sum-not-mean",)),
        ("standard_deviation", "2.786", "correct", ()),
        ("standard_deviation", "7.76", "wrong", ("other-step",)),
        ("standard_deviation", "3.114", "wrong", ("unbiased-variance",)),
        ("mean", "4.1", "wrong", ()),
    ],
)
def test_answers_to_single_steps(step: str, given: str, verdict: str, faults: tuple[str, ...]) -> None:
    result = diagnose(X, [[given]], step=step, eps=0)
    assert (result.verdict, result.faults) == (verdict, faults)


def test_two_explanations_are_both_given_with_an_input_that_tells() -> None:
    result = diagnose([1, 0, 0, 0], "1.499997000006 -0.499999000002 -0.499999000002 -0.499999000002", eps="1e-6")
    assert result.faults == ("unbiased-variance", "epsilon-outside-root")
    assert result.alternatives == ("second-moment+epsilon-outside-root",)
    x = result.tell_apart.removeprefix("x = ").split()
    outputs = [
        trace(x, wrong_spec(ids), _float(), eps=1e-6).output
        for ids in (("unbiased-variance", "epsilon-outside-root"), ("second-moment", "epsilon-outside-root"))
    ]
    assert np.abs(outputs[0] - outputs[1]).max() > 0.01


def test_what_an_input_hides_is_said_for_a_right_answer() -> None:
    (note,) = diagnose([-1, 1], "-1 1", eps=0).notes
    assert "mean 0, variance 1" in note
    assert "variance-not-root" in note
    assert "not-centered" in note
    assert diagnose([1, 2, 4, 9], "-0.9733 -0.6489 0.0000 1.6222").notes[0].startswith("Epsilon does not show")


def test_an_undefined_right_answer_is_explained() -> None:
    with pytest.raises(UndefinedError, match="0/0"):
        diagnose([3, 3, 3], "0 0 0", eps=0)
    assert diagnose([[3, 3, 3], [1, 2, 3]], [["nan"] * 3, ["-1.2247", "0", "1.2247"]], eps=0).verdict == "correct"


# ---- axes


def float_case(shape: tuple[int, ...], dtype: str = "float64") -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(11)
    return (
        rng.normal(1, 2, shape).astype(dtype),
        rng.normal(1, 0.3, shape[-1]).astype(dtype),
        rng.normal(0, 0.5, shape[-1]).astype(dtype),
    )


@pytest.mark.parametrize(
    ("axes", "name"), [((0,), "wrong-axis"), ((1,), "wrong-axis"), ((1, 2), "all-axes"), ((0, 1, 2), "all-axes")]
)
def test_statistics_over_other_axes(axes: tuple[int, ...], name: str) -> None:
    x, gamma, beta = float_case((2, 3, 4), "float32")
    y = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + np.float32(1e-5)) * gamma + beta
    result = diagnose_arrays(x, y, gamma=gamma, beta=beta)
    assert (result.verdict, result.faults) == ("wrong", (name,))
    assert ", ".join(map(str, axes)) in result.evidence[0]


def test_statistics_of_the_wrong_elements() -> None:
    x, gamma, beta = float_case((4, 6))
    rows = x.shape[0]

    def output(mean: Any, variance: Any) -> Any:
        return (x - mean) / np.sqrt(variance + 1e-5) * gamma + beta

    padded = np.concatenate([x, np.zeros((rows, 2))], axis=1)
    beside = np.concatenate([x, np.concatenate([x[1:, :1], np.zeros((1, 1))])], axis=1)
    for pool, name in ((padded, "padding-counted"), (x[:, :-1], "features-dropped"), (beside, "neighbour-counted")):
        y = output(pool.mean(-1, keepdims=True), pool.var(-1, keepdims=True))
        result = diagnose_arrays(x, y, gamma=gamma, beta=beta)
        assert (result.verdict, result.faults) == ("wrong", (name,))


def test_only_the_wrong_rows_are_explained() -> None:
    x, gamma, beta = float_case((5, 6))
    y = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * gamma + beta
    y[3] = (x[3] - x[3].mean()) / np.sqrt(x[3].var(ddof=1) + 1e-5) * gamma + beta
    result = diagnose_arrays(x, y, gamma=gamma, beta=beta)
    assert result.faults == ("unbiased-variance",)
    assert "1 of 5 rows: (3,)" in result.evidence[0]


# ---- precision


def test_overflow_in_half_precision_and_low_precision_statistics() -> None:
    x = np.array([[300, -700, 200, 900.0]], np.float16)
    with np.errstate(over="ignore"):
        assert np.isinf((x - x.mean()) ** 2).any()
    assert diagnose_arrays(x, np.zeros_like(x)).faults == ("overflow",)
    rng = np.random.default_rng(5)
    x = rng.normal(3, 1, (6, 512)).astype(np.float32)
    short = x.astype(np.float16)
    total = np.add.accumulate(short, axis=-1)[:, -1:]
    mean = (total / np.float16(512)).astype(np.float32)
    y = (x - mean) / np.sqrt(x.var(-1, keepdims=True) + np.float32(1e-5))
    result = diagnose_arrays(x, y)
    assert result.verdict == "wrong"


def test_one_pass_variance_in_several_orders() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(300, 1, (5, 64)).astype(np.float32)
    n = np.float32(64)
    for total in (
        lambda a: a.sum(-1, keepdims=True),
        lambda a: np.add.accumulate(a, axis=-1)[:, -1:],
        lambda a: a.reshape(5, 8, 8).sum(-1).sum(-1, keepdims=True),
    ):
        mean = total(x) / n
        variance = np.maximum(total(x * x) / n - mean * mean, np.float32(0))
        y = (x - mean) / np.sqrt(variance + np.float32(1e-5))
        assert diagnose_arrays(x, y).faults == ("one-pass-variance",)


# ---- placement


@pytest.mark.parametrize(
    ("order", "formula", "verdict", "faults"),
    [
        ("post", "norm(x + f)", "correct", ()),
        ("post", "x + f", "wrong", ("pre-for-post",)),
        ("post", "norm(f)", "wrong", ("residual-omitted",)),
        ("post", "norm(x) + f", "wrong", ("residual-of-normalized",)),
        ("post", "x + norm(f)", "wrong", ("branch-normalized",)),
        ("post", "x + norm(x + f)", "wrong", ("residual-twice",)),
        ("pre", "x + f", "correct", ()),
        ("pre", "norm(x + f)", "wrong", ("post-for-pre",)),
        ("pre", "f", "wrong", ("residual-omitted",)),
        ("pre", "norm(x) + f", "wrong", ("residual-of-normalized",)),
        ("final", "norm(x + f)", "correct", ()),
        ("final", "x + f", "wrong", ("final-norm-omitted",)),
        ("post", "unbiased(x + f)", "wrong", ("unbiased-variance",)),
        ("post", "unbiased(x) + f", "wrong", ("residual-of-normalized", "unbiased-variance")),
        ("post", "3 * x", "wrong", ()),
    ],
)
@pytest.mark.parametrize("typed", [True, False])
def test_placement(order: str, formula: str, verdict: str, faults: tuple[str, ...], typed: bool) -> None:
    x, f = np.array([1.0, 2.0, 3.5, 6.0, -1.0]), np.array([0.5, -1.5, 2.0, 0.25, 1.75])
    gamma, beta = np.array([1.0, 0.5, 2.0, 1.5, 0.75]), np.array([0.5, 0.25, -1.0, 0.0, 2.0])

    def norm(v: Any, ddof: int = 0) -> Any:
        return (v - v.mean()) / np.sqrt(v.var(ddof=ddof) + 1e-5) * gamma + beta

    y = eval(formula, {"norm": norm, "unbiased": lambda v: norm(v, 1), "x": x, "f": f})
    given = " ".join(f"{v:.6f}" for v in y) if typed else y
    result = diagnose(x, given, gamma=gamma, beta=beta, residual=f, order=order)
    assert (result.verdict, result.faults) == (verdict, faults)


# ---- large arrays


@pytest.fixture(scope="module")
def large() -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(8)
    x = rng.normal(0.5, 1, (1500, 256)).astype(np.float32)
    gamma, beta = rng.normal(1, 0.3, 256).astype(np.float32), rng.normal(0, 0.4, 256).astype(np.float32)
    y = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + np.float32(1e-5)) * gamma + beta
    return x, gamma, beta, y


def test_large_arrays_are_judged_as_small_ones_are(large: tuple[Any, Any, Any, Any], tmp_path: Path) -> None:
    x, gamma, beta, y = large
    assert diagnose_arrays(x, y, gamma=gamma, beta=beta).verdict == "correct"

    def of(axis: Any, ddof: int = 0) -> Any:
        variance = x.var(axis, keepdims=True, ddof=ddof, dtype=np.float64)
        mean = x.mean(axis, keepdims=True, dtype=np.float64)
        return ((x - mean) / np.sqrt(variance + 1e-5) * gamma + beta).astype(np.float32)

    for wrong, name in ((of(-1, 1), "unbiased-variance"), (of(0), "wrong-axis"), (of((0, 1)), "all-axes")):
        np.save(tmp_path / "y.npy", wrong)
        mapped = np.load(tmp_path / "y.npy", mmap_mode="r")
        assert diagnose_arrays(x, mapped, gamma=gamma, beta=beta).faults == (name,)


def test_single_wrong_rows_of_a_large_array_are_found(large: tuple[Any, Any, Any, Any]) -> None:
    x, gamma, beta, y = large
    broken = y.copy()
    broken[77] = np.nan
    broken[1400, 3] += 0.01
    result = diagnose_arrays(x, broken, gamma=gamma, beta=beta)
    assert result.verdict == "wrong"
    assert "2 of 1500 rows" in result.evidence[0]
    assert "77, 1400" in result.evidence[0]


def test_a_large_square_array_and_pairs_of_mistakes() -> None:
    rng = np.random.default_rng(9)
    x = rng.normal(0.5, 1, (200, 200))
    gamma, beta = rng.normal(1, 0.3, 200), rng.normal(0, 0.4, 200)
    mean, variance = x.mean(-1), x.var(-1)
    y = (x - mean) / np.sqrt(variance + 1e-5) * gamma + beta
    assert diagnose_arrays(x, y, gamma=gamma, beta=beta).faults == ("missing-keepdims",)
    mean, variance = mean[:, None], x.var(-1, ddof=1, keepdims=True)
    y = ((x - mean) / (np.sqrt(variance) + 1e-5) + beta) * gamma
    found = diagnose_arrays(x, y, gamma=gamma, beta=beta)
    assert set(found.faults) == {"unbiased-variance", "epsilon-outside-root", "beta-before-gamma"}


def test_large_batch_norm_and_channels(large: tuple[Any, Any, Any, Any]) -> None:
    x, gamma, beta, _ = large
    y = (x - x.mean(0)) / np.sqrt(x.var(0) + np.float32(1e-5)) * gamma + beta
    assert diagnose_arrays(x, y, gamma=gamma, beta=beta, spec=BATCH).verdict == "correct"
    assert diagnose_arrays(x, y * np.float32(1.001), gamma=gamma, beta=beta, spec=BATCH).verdict == "wrong"


# ---- form


def test_the_document_has_the_fields_of_its_schema_and_reads_back() -> None:
    given = parse_answer("nan inf 1.5")
    document = diagnose([1, 2, 4], given).json()
    assert document["schema"] == "lnorm/diagnose/1"
    assert {"verdict", "faults", "alternatives", "implied", "message"} <= set(document)
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_levels_are_worked_out_once() -> None:
    from lnorm_cli.faults.answer import make_answer
    from lnorm_cli.faults.problem import make_problem

    problem = make_problem(X, make_answer("1 2 3 4 5", None), 1, 0, Fraction(1, 10**5), LAYER)
    first = list(levels(problem, 2))
    assert all(one is other for one, other in zip(first, levels(problem, 2), strict=True))


def test_two_numbers_are_shown_with_the_digits_that_tell_them_apart() -> None:
    assert apart(-1.264911064, -1.2649082) == ("-1.264911", "-1.264908")
    assert apart(2.0, 3.0) == ("2", "3")
    assert apart(math.nan, 1.0) == ("nan", "1")
