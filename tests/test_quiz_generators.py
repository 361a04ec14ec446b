"""Numeric generators: 200 seeds each, the key recomputed here from the printed question alone.

The recomputation uses `fractions` and `math` on the numbers that the learner reads; nothing of the core.
"""

import math
import re
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations

import pytest

from lnorm_cli import exact
from lnorm_cli.quiz.bank import Bank
from lnorm_cli.quiz.generators import generators
from lnorm_cli.quiz.grading import grade
from lnorm_cli.quiz.questions import Choice, Numbers, Question
from lnorm_cli.quiz.rules import decimal

SEEDS = range(200)
PLACES = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "sixth": 5}
Values = list[float]


# The printed question, read again


def given(question: Question, name: str = "x") -> list[Fraction]:
    return [Fraction(part) for part in dict(question.given)[name].split(", ")]


def number(question: Question, name: str) -> Fraction:
    return given(question, name)[0]


def place(question: Question) -> int:
    found = re.search(r"the (\w+) (?:entry|feature)", question.prompt)
    assert found
    return PLACES[found.group(1)]


def whole_numbers(question: Question) -> list[int]:
    return [int(text) for text in re.findall(r"\d+", question.prompt)]


# The formulas, written once more


def mean(x: list[Fraction]) -> Fraction:
    return sum(x, Fraction(0)) / len(x)


def variance(x: list[Fraction]) -> Fraction:
    m = mean(x)
    return mean([(v - m) ** 2 for v in x])


def normalized(x: list[Fraction], eps: Fraction = Fraction(0)) -> Values:
    m, divisor = mean(x), math.sqrt(variance(x) + eps)
    return [float(v - m) / divisor for v in x]


def scaled(q: Question) -> Values:
    z, gamma = normalized(given(q)), given(q, "gamma")
    beta = given(q, "beta") if "beta" in dict(q.given) else [Fraction(0)] * len(z)
    return [float(g) * v + float(b) for v, g, b in zip(z, gamma, beta, strict=True)]


def batch_column(q: Question) -> Values:
    rows = [[Fraction(part) for part in value.split(", ")] for _, value in q.given]
    return normalized([row[place(q)] for row in rows])


def post_norm(q: Question) -> Values:
    return normalized([a + b for a, b in zip(given(q), given(q, "F(x)"), strict=True)])


def pre_norm(q: Question) -> Values:
    found = re.search(r"F\(z\) = (\d+)z", q.prompt)
    assert found
    return [float(v) + int(found.group(1)) * z for v, z in zip(given(q), normalized(given(q)), strict=True)]


def chain(q: Question) -> Values:
    total = number(q, "dL/dy")
    for slope in given(q, "dF/dx of the blocks"):
        total *= 1 + slope
    return [float(total)]


def dx(q: Question) -> Values:
    """By the Jacobian of the normalization, entry by entry."""
    x, dy = given(q), given(q, "dL/dy")
    n, s, z = len(x), math.sqrt(variance(x)), normalized(x)
    return [sum(float(dy[i]) * ((i == j) - 1 / n - z[i] * z[j] / n) / s for i in range(n)) for j in range(n)]


def dgamma(q: Question) -> Values:
    tokens = [normalized(given(q, f"token {i}")) for i in (1, 2)]
    upstream = [given(q, f"dL/dy of token {i}") for i in (1, 2)]
    return [sum(float(dy[j]) * z[j] for dy, z in zip(upstream, tokens, strict=True)) for j in range(len(tokens[0]))]


def parameters(q: Question) -> Values:
    layers, width = whole_numbers(q)[:2]
    return [2 * width * (2 * layers + ("and a final norm" in q.prompt))]


def one_pass(q: Question) -> Values:
    found = re.search(r"has mean (\S+) and mean of squares (\S+)\.", q.prompt)
    assert found
    return [float(Fraction(found.group(2)) - Fraction(found.group(1)) ** 2)]


def small(q: Question) -> Values:
    return [normalized(given(q), number(q, "eps"))[place(q)]]


RECOMPUTED: dict[str, Callable[[Question], Values]] = {
    "mean": lambda q: [float(mean(given(q)))],
    "variance": lambda q: [float(variance(given(q)))],
    "variance-of-fractions": lambda q: [float(variance(given(q)))],
    "standard-deviation": lambda q: [math.sqrt(variance(given(q)))],
    "normalized-entry": lambda q: [normalized(given(q))[place(q)]],
    "normalized-root": lambda q: [normalized(given(q))[place(q)]],
    "normalized-vector": lambda q: normalized(given(q)),
    "root-mean-square": lambda q: [math.sqrt(mean([v * v for v in given(q)]))],
    "rms-entry": lambda q: [float(given(q)[place(q)]) / math.sqrt(mean([v * v for v in given(q)]))],
    "batchnorm-column": batch_column,
    "affine-entry": lambda q: [scaled(q)[place(q)]],
    "affine-vector": scaled,
    "affine-root": lambda q: [scaled(q)[place(q)]],
    "epsilon-entry": small,
    "epsilon-variance-after": lambda q: [float(variance(given(q)) / (variance(given(q)) + number(q, "eps")))],
    "epsilon-shrink": lambda q: [math.sqrt(variance(given(q)) / (variance(given(q)) + number(q, "eps")))],
    "epsilon-small-spread": small,
    "post-norm-block": post_norm,
    "pre-norm-block": pre_norm,
    "residual-chain": chain,
    "count-means": lambda q: [whole_numbers(q)[0] * whole_numbers(q)[1]],
    "count-gamma": lambda q: [whole_numbers(q)[1] * whole_numbers(q)[2]],
    "count-parameters": parameters,
    "one-pass-variance": one_pass,
    "gradient-of-x": dx,
    "gradient-of-gamma": dgamma,
}
IRRATIONAL = {"normalized-root", "affine-root"}


def test_there_are_enough_generators_and_each_is_recomputed() -> None:
    assert len(generators()) >= 16
    assert set(RECOMPUTED) | {"float16-overflow"} == set(generators())


@pytest.mark.parametrize("name", RECOMPUTED)
def test_200_seeds(name: str) -> None:
    generator = generators()[name]
    prompts = set()
    for seed in SEEDS:
        q = generator.question(seed)
        prompts.add((q.prompt, q.given))
        answer = q.answer
        assert isinstance(answer, Numbers)
        exactly = [exact.approximate(v) for v in answer.values]
        assert [float(v) for v in exactly] == pytest.approx(RECOMPUTED[name](q), rel=1e-9, abs=1e-12), q
        assert_distinct(q, answer)
        assert_pleasant(q, answer)
        assert len(q.hints) >= 2
        assert all(hint.strip() for hint in q.hints)
        assert q.work
        assert len(q.id.split(":")) == 2
    assert len(prompts) > 40, "too few different questions"


def assert_distinct(q: Question, answer: Numbers) -> None:
    """At the precision asked, no two of the right and the wrong answers look alike."""

    def shown(values: tuple[exact.Exact, ...]) -> tuple[str, ...]:
        return tuple(decimal(exact.approximate(v), answer.rule) for v in values)

    assert len(answer.wrong) >= 2, q
    texts = [shown(answer.values), *(shown(wrong.value) for wrong in answer.wrong)]
    for one, other in combinations(texts, 2):
        assert one != other, q
    for wrong in answer.wrong:
        assert wrong.fault
        assert wrong.feedback.strip()


def assert_pleasant(q: Question, answer: Numbers) -> None:
    """Whole inputs or short decimals, and answers with small denominators."""
    for name, value in q.given:
        for part in value.split(", "):
            assert abs(Fraction(part)) <= 64, (name, q)
            assert Fraction(part).denominator <= 10_000, (name, q)
    if q.key in IRRATIONAL:
        return
    for right in answer.values:
        assert isinstance(right, Fraction), q
        assert right.denominator <= 400, q


@pytest.mark.parametrize("name", RECOMPUTED)
def test_the_grader_agrees_with_the_key_and_names_the_wrong_paths(name: str) -> None:
    for seed in range(12):
        q = generators()[name].question(seed)
        answer = q.answer
        assert isinstance(answer, Numbers)
        exactly = ", ".join(exact.text(v) for v in answer.values)
        rounded = ", ".join(decimal(exact.approximate(v), answer.rule) for v in answer.values)
        assert grade(q, exactly).outcome == "right", (q, exactly)
        assert grade(q, rounded).outcome == "right", (q, rounded)
        for wrong in answer.wrong:
            text = ", ".join(decimal(exact.approximate(v), answer.rule) for v in wrong.value)
            found = grade(q, text)
            assert (found.outcome, found.misconceptions) == ("wrong", (wrong.fault,)), (q, text)
            assert found.message == wrong.feedback


def test_float16_overflow_recomputed() -> None:
    """Squares and their sum against the largest finite float16, in whole numbers."""
    seen = set()
    for seed in SEEDS:
        q = generators()["float16-overflow"].question(seed)
        assert isinstance(q.answer, Choice)
        squares = [(v - mean(given(q))) ** 2 for v in given(q)]
        expected = "Nothing overflows"
        if max(squares) > 65504:
            expected = "A squared deviation"
        elif sum(squares) > 65504:
            expected = "The sum of the squares"
        assert q.answer.options[q.answer.right].text == expected
        assert len({option.text for option in q.answer.options}) == 4
        seen.add(expected)
    assert len(seen) == 3


def test_a_seed_gives_one_question_for_ever() -> None:
    """The same on every version of Python: these were made once and must not change."""
    known = {
        "variance:1": (("x", "9, 3, 1, 3"),),
        "normalized-entry:1": (("x", "4, 2, -4, 2"),),
        "residual-chain:1": (("dF/dx of the blocks", "1, 3, 1/4"), ("dL/dy", "8")),
    }
    bank = Bank()
    for id, expected in known.items():
        assert bank.question(id).given == expected
        assert bank.question(id).prompt == bank.question(id).prompt


def test_what_is_said_of_a_batch_and_of_an_rms_norm_speaks_of_them() -> None:
    """The catalogue's advice is worded for LayerNorm: along the features, with a variance."""
    for seed in range(5):
        batch, rms = Bank().question(f"batchnorm-column:{seed}"), Bank().question(f"rms-entry:{seed}")
        for question, foreign in ((batch, ("axis=-1", "features", "token")), (rms, ("variance", "one-pass"))):
            assert isinstance(question.answer, Numbers)
            for wrong in question.answer.wrong:
                assert not any(word in wrong.feedback for word in foreign), wrong


def test_the_faults_of_wrong_paths_mean_what_was_done() -> None:
    """Ids of the catalogue are used for what the catalogue says; other mistakes have words of their own."""
    named = {
        name: {w.fault for w in answer.wrong}
        for name in ("mean", "one-pass-variance", "post-norm-block")
        if isinstance(answer := Bank().question(f"{name}:1").answer, Numbers)
    }
    assert not named["mean"] & {"unbiased-variance", "sum-not-mean"}
    assert not named["one-pass-variance"] & {"sign-flipped", "one-pass-variance", "second-moment"}
    post = Bank().question("post-norm-block:1")
    x, f = given(post), given(post, "F(x)")
    assert isinstance(post.answer, Numbers)
    bare = next(w for w in post.answer.wrong if w.fault == "pre-for-post")
    assert list(bare.value) == [a + b for a, b in zip(x, f, strict=True)]
