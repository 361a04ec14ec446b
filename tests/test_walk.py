"""The walk tells the truth: every "=" on it is an equality, every "about" is near, brackets included."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest
from conftest import invoke
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from lnorm_cli import exact
from lnorm_cli.compute import compute, request
from lnorm_cli.reading import parse_number, parse_vector
from lnorm_cli.render.notation import ASCII, NO_BREAK, UNICODE, Notation, decimal_text
from lnorm_cli.render.walk import walk
from lnorm_cli.render.writer import Column


@dataclass
class Recorder:
    """A writer that keeps what it is told."""

    notation: Notation
    steps: list[tuple[str, str, list[tuple[str, str]]]] = field(default_factory=list)
    tables: list[Sequence[Column]] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    def title(self, text: str) -> None:
        self.others.append(text)

    def section(self, text: str) -> None:
        self.others.append(text)

    def given(self, name: str, value: str) -> None:
        self.others.append(f"{name} = {value}")

    def step(self, number: int, name: str, formula: str, lines: Sequence[tuple[str, str]]) -> None:
        assert number == len(self.steps) + 1
        self.steps.append((name.replace(" ", "_"), formula, list(lines)))

    def table(self, columns: Sequence[Column]) -> None:
        self.tables.append(columns)

    def notices(self, texts: Sequence[str]) -> None:
        self.others += texts

    def other_row(self, name: str, value: str) -> None:
        self.others.append(f"{name} = {value}")


def walked(x: str, notation: Notation, digits: int = 6, **options: Any) -> tuple[Recorder, dict[str, Any]]:
    asked = request(options.pop("norm", "layer"), parse_vector(x), **options)
    computation = compute(asked, [0], [0])
    out = Recorder(notation)
    walk(computation, out, digits)
    assert computation.rows[0].exacts is not None
    return out, dict(computation.rows[0].exacts)


def elements(text: str) -> list[Any]:
    """The values of a written list: each element by the grammar of input, dots left out."""
    parts = text.replace(NO_BREAK, " ").split(", ")
    return [parse_number(part) for part in parts if part != "..."]


def close(value: Any, truth: Any, tolerance: Fraction, size: Fraction) -> bool:
    return bool(abs(exact.approximate(value) - exact.approximate(truth)) <= tolerance * size)


def check(out: Recorder, truths: dict[str, Any], digits: int = 6) -> int:
    """Compare every line of every step with the exact values; the number of values compared."""
    compared = 0
    largest = max(abs(exact.approximate(value)) for step in truths.values() for value in step)
    for name, _, lines in out.steps:
        relations = [relation for relation, _ in lines]
        assert relations == sorted(relations, key=lambda sign: sign != "="), f"{name}: an equality after an estimate"
        for relation, text in lines:
            if relation == out.notation.unequal or re.search(
                r"[a-z]{3,} (of|is|as)|, as |\.\.\. \+", text.replace(NO_BREAK, " ")
            ):
                continue  # not a value, or a sum with terms left out
            values, truth = elements(text), list(truths[name])
            if len(values) < len(truth):
                truth = [*truth[:6], *truth[-2:]]
            assert len(values) == len(truth), (name, text)
            for value, right in zip(values, truth, strict=True):
                compared += 1
                if relation == "=":
                    assert exact.is_zero(exact.subtract(value, right)), f"{name}: {text}"
                else:  # numbers put in are rounded before they are subtracted, or a value itself is
                    assert relation == out.notation.about
                    assert close(value, right, Fraction(9, 10**digits), largest), f"{name}: {text}"
            if relation == "≈" and lines[-1] == (relation, text):
                for value, right in zip(values, truth, strict=True):
                    assert close(value, right, Fraction(6, 10**digits), abs(exact.approximate(right))), (
                        f"{name}: {text}"
                    )
    return compared


CASES: list[tuple[str, dict[str, Any]]] = [
    ("2 4 4 6", {}), ("-1/3 sqrt(2) 7", {}),
    ("-1 -2 -4", {"gamma": parse_vector("-1 1/2 -2"), "beta": parse_vector("-3 0 1/7")}),
    ("1 2 3", {"norm": "rms", "gamma": parse_vector("2")}), ("0.01 0.02 0.03 0.02", {"eps": Fraction(1)}), ("7 7", {}),
    ("1 2 3 4 5 6 7 8 9 10 11 12 13", {}), ("2 4 1 3", {"upstream": parse_vector("1 -1/2 0 3")}),
    ("-sqrt(3) 1-sqrt(5) pi", {}),
    ("1 -2 4", {"norm": "rms", "upstream": parse_vector("-1 0 2"), "gamma": parse_vector("1 -2 3")}),
    ("1e30 -1e30 1", {}), ("1e400 1 2", {}), ("-5", {}),
    ("3 5 2 6", {"eps": Fraction(0), "gamma": parse_vector("1/2 1 3/2 2")}), ("1e-9 2e-9 4e-9", {}),
]  # fmt: skip


@pytest.mark.parametrize("notation", [UNICODE, ASCII], ids=["unicode", "ascii"])
@pytest.mark.parametrize(("x", "options"), CASES, ids=[x for x, _ in CASES])
def test_every_line_is_true(x: str, options: dict[str, Any], notation: Notation) -> None:
    out, truths = walked(x, notation, **options)
    assert check(out, truths) >= 8


values = st.lists(
    st.one_of(st.integers(-20, 20).map(str), st.fractions(-9, 9, max_denominator=12).map(str),
              st.integers(2, 12).map(lambda k: f"-sqrt({k})"), st.decimals(-9, 9, places=3).map(str)),
    min_size=2, max_size=5,
)  # fmt: skip


@settings(max_examples=12, phases=(Phase.generate,))
@given(x=values, scale=values, digits=st.integers(3, 12))
def test_every_line_of_any_walk_is_true(x: list[str], scale: list[str], digits: int) -> None:
    gamma = parse_vector((scale * 5)[0])
    out, truths = walked(", ".join(x), UNICODE, digits, gamma=gamma, beta=parse_vector((scale * 5)[1]))
    check(out, truths, digits)


@pytest.mark.parametrize(("x", "options"), CASES[:6], ids=[x for x, _ in CASES[:6]])
def test_the_table_is_true(x: str, options: dict[str, Any]) -> None:
    out, truths = walked(x, UNICODE, **options)
    (columns,) = out.tables
    n = len(columns[0].cells)
    assert columns[0].cells == tuple(str(i + 1) for i in range(n))
    names = {
        "x": "x",
        "x - μ": "deviation",
        "(x - μ)²": "squared_deviation",
        "x²": "square",
        "x̂": "normalized",
        "y": "output",
    }
    for column in columns[1:]:
        truth = truths[names[column.header.removeprefix("≈ ")]]
        for cell, right in zip(column.cells, truth, strict=True):
            value = parse_number(cell.replace(NO_BREAK, " "))
            if column.kind == "float":
                assert close(value, right, Fraction(1, 10**5), abs(exact.approximate(right)))
            else:
                assert exact.is_zero(exact.subtract(value, right))


def test_formulas_stand_for_every_step() -> None:
    out, _ = walked("2 4 1 3", ASCII, upstream=parse_vector("1 0 0 0"))
    formulas = {name: formula for name, formula, _ in out.steps}
    assert formulas["mean"] == "mu = sum(x)/n"
    assert formulas["variance"] == "sigma^2 = sum((x - mu)^2)/n"
    assert formulas["normalized"] == "xhat = (x - mu)/s"
    assert formulas["dx"] == "dx = h/s"
    assert all(formulas.values())


def test_without_the_exact_side_rounded_decimals_are_not_called_equal() -> None:
    """Six digits are all of 2.50001 and not all of its root."""
    out = Recorder(UNICODE)
    walk(compute(request("layer", parse_vector("3 5 2 6"), with_exact=False), [0], [0]), out, 6)
    relations = {name: [relation for relation, _ in lines] for name, _, lines in out.steps}
    assert relations["variance"] == ["=", "="]
    assert relations["variance_plus_epsilon"] == ["=", "="]
    assert relations["standard_deviation"] == ["=", "≈"]
    assert relations["normalized"] == ["≈", "≈"]


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_no_table_holds_nothing_but_the_numbers_of_the_features(width: int) -> None:
    for options in ("-f latex", "-f markdown", ""):
        done = invoke("compute", *f"3.123 5.2 2.3 6.77 1/7 {options}".split(), env={"COLUMNS": str(width)})
        assert "{array}{r}" not in done.out
        assert not re.search(r"^ *feature *$", done.out, re.MULTILINE)


def test_digits_before_the_point_are_never_rounded_away() -> None:
    done = invoke("compute", "1e10", "10000000001", "10000000002", "--no-exact")
    assert "  x = 10000000000.0, 10000000001.0, 10000000002.0\n" in done.out.replace("\u00a0", " ")
    assert decimal_text(Fraction(123456784, 10), 6) == "12345678.0"
    assert decimal_text(Fraction(99999996, 10), 6) == "9999999.6"  # all of it, in the eight digits that it takes
    assert decimal_text(Fraction(1234567), 3) == "1234567.0"
    assert decimal_text(Fraction(10**16 + 1), 6) == "1.00000e16"


def test_what_is_given_is_written_whole_without_the_exact_side() -> None:
    done = invoke("compute", "0.1", "2", "3", "--no-exact", "--dtype", "float16")
    assert "  x = 0.0999755859375, 2.0, 3.0\n" in done.out.replace("\u00a0", " ")
