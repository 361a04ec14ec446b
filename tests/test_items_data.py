"""Lint of the concept items: what a teacher would check before handing them out.

Reads the TOML files alone; wrong answers are recomputed here in plain floats, apart from the core.
"""

import math
import re
import tomllib
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parent.parent / "lnorm_cli" / "data"

TOPICS = [
    *("layernorm", "axes", "batchnorm", "epsilon", "affine", "parameters", "residual"),
    *("gradients", "postnorm", "prenorm", "placement", "finalnorm", "porting", "rmsnorm"),
    *("precision", "backward", "block", "variants", "implement"),
]
ROWS = {f"N{number}" for number in range(1, 11)} | {f"I{number}" for number in range(1, 22)}
COMMON = {"id", "topic", "kind", "covers", "prompt", "hints", "source", "explain"}
KEYS = {
    "choice": ({"choices"}, set()),
    "order": ({"lines", "why"}, set()),
    "spot": ({"x", "gamma", "beta", "eps", "fault", "others", "digits"}, set()),
    "recall": ({"model", "points"}, set()),
    "formula": ({"answer", "wrong"}, {"names"}),
    "number": ({"compute"}, {"precision"}),
}
FORMULA_NAMES = ["mu", "var", "sigma", "eps", "gamma", "beta", "x", "n", "d"]
STEPS = {
    "layer": {"mean", "variance", "standard_deviation", "normalized", "output"},
    "rms": {"mean_square", "root_mean_square", "normalized", "output"},
}

ITEMS: list[dict[str, Any]] = []
for path in sorted((DATA / "items").glob("*.toml")):
    ITEMS += [{"file": path.stem} | item for item in tomllib.loads(path.read_text("utf-8"))["item"]]


def of_kind(*kinds: str) -> list[Any]:
    return [pytest.param(item, id=item["id"]) for item in ITEMS if item["kind"] in kinds]


def texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for part in value.values() for text in texts(part)]
    return [text for part in value for text in texts(part)] if isinstance(value, list) else []


def vector(text: str) -> list[float]:
    return [evaluate(part) for part in text.split()]


def root_of(value: float) -> float:
    return math.sqrt(value) if value >= 0 else math.nan


def evaluate(formula: str, **values: float) -> float:
    """A formula of our own files (never a user's), in plain floats."""
    names = {"sqrt": root_of, "abs": abs, "__builtins__": {}}
    return float(eval(formula.replace("^", "**"), names, dict(values)))


# The whole collection


def test_there_are_enough_items_of_every_topic_and_kind() -> None:
    assert len(ITEMS) >= 90
    topics = Counter(item["topic"] for item in ITEMS)
    assert set(topics) == {*TOPICS, "warmup"}
    assert min(topics.values()) >= 4
    assert {item["kind"] for item in ITEMS} == set(KEYS)


def test_ids_are_unique() -> None:
    assert [name for name, count in Counter(item["id"] for item in ITEMS).items() if count > 1] == []


def test_prompts_are_unique_except_where_numbers_differ() -> None:
    shown = Counter(item["prompt"] for item in ITEMS)
    assert [prompt for prompt, count in shown.items() if count > 1] == []


def test_every_row_of_the_curriculum_is_asked() -> None:
    asked = {row for item in ITEMS for row in item["covers"]}
    assert asked == ROWS


def test_the_right_choice_does_not_stand_out() -> None:
    """Someone who always takes the longest choice, or the shortest, fares little better than by chance."""
    choices = [item["choices"] for item in ITEMS if item["kind"] == "choice"]
    for extreme in (max, min):
        hits = 0.0
        for group in choices:
            lengths = [len(choice["text"]) for choice in group]
            if lengths[right_place(group)] == extreme(lengths):
                hits += 1 / lengths.count(extreme(lengths))
        assert 0.1 < hits / len(choices) < 0.4, extreme
    places = Counter(right_place(group) for group in choices)
    assert all(0.15 < places[place] / len(choices) < 0.35 for place in range(4)), places


# One item at a time


@pytest.mark.parametrize("item", of_kind(*KEYS))
def test_an_item_is_complete(item: dict[str, Any]) -> None:
    needed, allowed = KEYS[item["kind"]]
    keys = set(item) - {"file"}
    assert keys >= COMMON | needed
    assert keys <= COMMON | needed | allowed
    assert item["topic"] == item["file"]
    assert re.fullmatch(rf"{item['topic']}-[a-z0-9-]+", item["id"])
    assert item["explain"] in TOPICS
    assert item["covers"]
    assert set(item["covers"]) <= ROWS
    assert len(item["hints"]) >= 2


@pytest.mark.parametrize("item", of_kind(*KEYS))
def test_texts_are_filled_in_plain_and_short(item: dict[str, Any]) -> None:
    for text in texts(item):
        assert text == text.strip() != ""
        assert text.isascii()
        assert "`" not in text
    assert len(item["prompt"]) <= 280
    assert item["prompt"][-1] in ".?)"
    assert len(set(item["hints"])) == len(item["hints"])
    assert all(hint[-1] in ".?" and len(hint) <= 160 for hint in item["hints"])


@pytest.mark.parametrize("item", of_kind(*KEYS))
def test_the_source_is_known(item: dict[str, Any]) -> None:
    sources = tomllib.loads((DATA / "sources.toml").read_text("utf-8"))
    assert item["source"] in sources


# Choice, order, recall


def right_place(choices: list[dict[str, Any]]) -> int:
    return next(place for place, choice in enumerate(choices) if choice.get("right"))


@pytest.mark.parametrize("item", of_kind("choice"))
def test_a_choice_has_one_right_answer_and_lessons_for_the_rest(item: dict[str, Any]) -> None:
    choices = item["choices"]
    assert len(choices) == 4
    assert sum(choice.get("right", False) for choice in choices) == 1
    assert all(set(choice) <= {"text", "right", "feedback"} for choice in choices)
    for part in ("text", "feedback"):
        assert len({choice[part].lower() for choice in choices}) == len(choices)
    assert all(len(choice["feedback"]) >= 20 for choice in choices if not choice.get("right"))
    assert all(len(choice["text"]) <= 80 for choice in choices)


@pytest.mark.parametrize("item", of_kind("choice"))
def test_no_hint_gives_the_right_choice_away(item: dict[str, Any]) -> None:
    right = item["choices"][right_place(item["choices"])]["text"].lower()
    assert all(right not in hint.lower() for hint in item["hints"])


@pytest.mark.parametrize("item", of_kind("order"))
def test_the_lines_of_a_block_have_one_order(item: dict[str, Any]) -> None:
    """Every line uses a name that the line before it has set, so no two neighbours can change places."""
    lines = item["lines"]
    assert 4 <= len(lines) == len(set(lines)) <= 7
    assert all(len(line) <= 60 for line in lines)
    for before, after in pairwise(lines):
        name = re.split(r"[\[ ,]", before)[0]
        used = re.sub(r"^\w+(, \w+)* = ", "", after)
        assert re.search(rf"\b{name}\b", used), (before, after)


@pytest.mark.parametrize("item", of_kind("recall"))
def test_a_model_answer_is_longer_than_its_points_are_many(item: dict[str, Any]) -> None:
    assert 3 <= len(item["points"]) <= 5
    assert len(item["model"]) > 120


# Formula and number


@pytest.mark.parametrize("item", of_kind("formula"))
def test_wrong_formulas_differ_from_the_answer_and_from_each_other(item: dict[str, Any]) -> None:
    own = item.get("names", [])
    assert not set(own) & set(FORMULA_NAMES)
    names = [*FORMULA_NAMES, *own]
    points = [{name: 1.3 + 0.37 * place**1.5 for place, name in enumerate(order)} for order in (names, names[::-1])]
    found = [[evaluate(item["answer"], **point) for point in points]]
    for wrong in item["wrong"]:
        assert set(wrong) == {"answer", "feedback"}
        assert len(wrong["feedback"]) >= 10
        found.append([evaluate(wrong["answer"], **point) for point in points])
    assert len(found) >= 4
    for place, value in enumerate(found):
        assert not any(value == pytest.approx(other, rel=1e-6) for other in found[:place]), item["wrong"]


@pytest.mark.parametrize("item", of_kind("formula"))
def test_the_prompt_names_every_symbol_of_the_answer(item: dict[str, Any]) -> None:
    symbols = set(re.findall(r"[a-z]+", item["answer"])) - {"sqrt", "abs"}
    assert symbols <= set(re.findall(r"[a-z]+", item["prompt"]))


@pytest.mark.parametrize("item", of_kind("number"))
def test_a_number_is_computed_and_not_stored(item: dict[str, Any]) -> None:
    compute = item["compute"]
    assert set(compute) <= {"x", "gamma", "beta", "eps", "norm", "step", "index"}
    assert compute["step"] in STEPS[compute["norm"]]
    assert 0 <= compute["index"] < len(compute["x"].split())


@pytest.mark.parametrize("item", of_kind("number"))
def test_no_hint_contains_the_number(item: dict[str, Any]) -> None:
    answer = number(item["compute"])
    told = re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?(?:/\d+)?", " ".join(item["hints"]))
    assert not any(math.isclose(evaluate(text), answer, abs_tol=5e-4 * abs(answer)) for text in told)


def number(compute: dict[str, Any]) -> float:
    """The computed answer once more, in plain floats."""
    x = vector(compute["x"])
    index: int = compute["index"]
    n = len(x)
    mean = sum(x) / n if compute["norm"] == "layer" else 0.0
    spread = sum((entry - mean) ** 2 for entry in x) / n
    root = math.sqrt(spread + evaluate(compute["eps"]))
    z = (x[index] - mean) / root
    gamma = wide(compute.get("gamma", "1"), n)[index]
    beta = wide(compute.get("beta", "0"), n)[index]
    found = {"variance": spread, "root_mean_square": root, "normalized": z, "output": gamma * z + beta}
    return found[str(compute["step"])]


BY_HAND = {
    "layernorm-variance-2446": 2,
    "layernorm-last-2446": math.sqrt(2),
    "layernorm-variance-123": 2 / 3,
    "layernorm-largest-123": math.sqrt(6) / 2,
    "layernorm-first-2413": -0.4472,
    "affine-output-n4": -3 * math.sqrt(10) / 5,
    "epsilon-one-entry": 0.5345,
    "epsilon-small-variance": 5e-5,
    "rmsnorm-root-1755": 5,
    "rmsnorm-second-1755": 14,
    "precision-shifted": 2,
    "postnorm-last-entry": math.sqrt(2),
}


@pytest.mark.parametrize("item", of_kind("number"))
def test_a_number_agrees_with_the_one_worked_by_hand(item: dict[str, Any]) -> None:
    assert number(item["compute"]) == pytest.approx(BY_HAND[item["id"]], rel=2e-4)


def test_the_sum_in_the_post_norm_item_is_the_vector_that_is_normalized() -> None:
    item = next(item for item in ITEMS if item["id"] == "postnorm-last-entry")
    x, update = (vector(text) for text in re.findall(r"= ((?:\d ?){4})", item["prompt"]))
    assert [a + b for a, b in zip(x, update, strict=True)] == vector(item["compute"]["x"])


# Spot: wrong paths in plain floats


def wide(text: str, n: int) -> list[float]:
    values = vector(text)
    return values * n if len(values) == 1 else values


def faulty(fault: str, item: dict[str, Any]) -> list[float]:
    """What a program with this one fault returns for the item's input."""
    x, eps = vector(item["x"]), evaluate(item["eps"])
    n = len(x)
    gamma, beta = wide(item["gamma"], n), wide(item["beta"], n)
    mean = sum(x) / n
    deviation = [entry - mean for entry in x]
    var = sum(entry**2 for entry in deviation) / n
    square = sum(entry**2 for entry in x) / n
    divisors = {
        "unbiased-variance": math.sqrt(var * n / (n - 1) + eps),
        "variance-not-root": var + eps,
        "mean-absolute-deviation": sum(abs(entry) for entry in deviation) / n + eps,
        "second-moment": math.sqrt(square + eps),
        "rms-for-layer": math.sqrt(square + eps),
        "epsilon-omitted": math.sqrt(var),
        "epsilon-outside-root": math.sqrt(var) + eps,
    }
    numerators = x if fault in ("not-centered", "rms-for-layer") else deviation
    z = [entry / divisors.get(fault, math.sqrt(var + eps)) for entry in numerators]
    places = range(n)
    affine = {
        "gamma-omitted": [z[i] + beta[i] for i in places],
        "beta-omitted": [gamma[i] * z[i] for i in places],
        "affine-omitted": z,
        "gamma-beta-swapped": [beta[i] * z[i] + gamma[i] for i in places],
        "beta-before-gamma": [gamma[i] * (z[i] + beta[i]) for i in places],
        "one-plus-gamma": [(1 + gamma[i]) * z[i] + beta[i] for i in places],
        "affine-reversed": [gamma[n - 1 - i] * z[i] + beta[n - 1 - i] for i in places],
    }
    assert fault in {"", "not-centered", *divisors, *affine}, f"no such fault: {fault}"
    return affine.get(fault, [gamma[i] * z[i] + beta[i] for i in places])


@pytest.mark.parametrize("item", of_kind("spot"))
def test_the_numbers_shown_have_one_explanation(item: dict[str, Any]) -> None:
    """At the digits shown, fault, alternatives and the right output are all different."""
    faults = ["", item["fault"], *item["others"]]
    assert len(set(faults)) == 5
    shown = [tuple(f"{value:.{item['digits']}f}" for value in faulty(fault, item)) for fault in faults]
    assert len(set(shown)) == len(shown), shown


@pytest.mark.parametrize("item", of_kind("spot"))
def test_the_fault_is_not_named_before_it_is_spotted(item: dict[str, Any]) -> None:
    said = " ".join([item["prompt"], *item["hints"]]).lower()
    assert item["fault"].replace("-", " ") not in said
