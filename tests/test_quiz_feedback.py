"""What the grader says and marks beyond right and wrong, and how a file of answers is read and counted."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from lnorm_cli import exact
from lnorm_cli.errors import InputError
from lnorm_cli.norm import LAYER, trace
from lnorm_cli.quiz import grading, marking
from lnorm_cli.quiz.bank import Bank
from lnorm_cli.quiz.grading import Grade, grade
from lnorm_cli.quiz.limit import OutOfTime
from lnorm_cli.quiz.marking import Given, Report, Result, mark, meaning, read_answers
from lnorm_cli.quiz.questions import Choice, Formula, Numbers, Option, Order, Question, Recall, Wrong, WrongFormula
from lnorm_cli.quiz.rounding import REACH, ByHand, at_place, by_rounding
from lnorm_cli.quiz.rules import Rule
from lnorm_cli.quiz.typed import read_letter, read_list, read_order, read_single
from lnorm_cli.reading import parse_number, parse_vector

F = Fraction
FOUR = Rule(figures=4)


def ask(answer: Any, kind: str = "number") -> Question:
    return Question("q:7", "q", "t", kind, "?", (), answer)


def number(right: str, rule: Rule = FOUR, wrong: dict[str, str] | None = None) -> Question:
    paths = tuple(Wrong((parse_number(value),), fault, f"about {fault}") for fault, value in (wrong or {}).items())
    return ask(Numbers((parse_number(right),), rule, paths))


def vector(right: str, rule: Rule = FOUR, wrong: dict[str, str] | None = None, **more: Any) -> Question:
    paths = tuple(
        Wrong(tuple(parse_vector(values).flat), fault, f"about {fault}") for fault, values in (wrong or {}).items()
    )
    return ask(Numbers(tuple(parse_vector(right).flat), rule, paths, single=False, **more), "vector")


THIRDS = "1 1/3 -5/3 1/3"

ENTRIES = [
    ("1 0.333 -1.667 0.333", "short", "Entries 2, 4 are right as far as they go. Wanted: ", F(1, 2), (2, 4)),
    ("1 0.333 -1.67 0.3333", "short", "Entries 2, 3 are right as far as they go. Wanted: ", F(1, 2), (2, 3)),
    ("1 0.333 -1.667 0.3333", "short", "Entry 2 is right as far as it goes. Wanted: exact, or to 4 sig", F(3, 4), (2,)),
    ("9 9 9 9", "wrong", "None of the entries is right.", F(0), ()),
    ("9 1/3 9 1/3", "wrong", "Entries 1, 3 of 4 are not right.", F(1, 2), ()),
    ("1 1/3 9 1/3", "wrong", "Entry 3 of 4 is not right.", F(3, 4), ()),
    ("9 1/3 9 0.333", "wrong", "Entries 1, 3 of 4 are not right.", F(1, 4), (4,)),
    ("1 0.3333 -1.666 0.3333", "wrong", "Cut off instead of rounded", F(3, 4), ()),
    ("1 0.333 -1.666 0.3333", "wrong", "Cut off instead of rounded", F(1, 2), (2,)),
]


@pytest.mark.parametrize(("answer", "outcome", "message", "credit", "short"), ENTRIES, ids=[e[0] for e in ENTRIES])
def test_entries_of_a_vector(answer: str, outcome: str, message: str, credit: Fraction, short: tuple[int, ...]) -> None:
    found = grade(vector(THIRDS), answer)
    assert (found.outcome, found.mark, found.short) == (outcome, credit, short)
    assert found.message.startswith(message)
    fault = {"Entry 3": ("arithmetic-slip",), "Cut off": ("cut-not-rounded",)}.get(message[:7], ())
    assert found.misconceptions == fault


def test_digits_short_in_all_entries_or_in_a_single_number() -> None:
    for question, answer, places in ((vector("1/3 2/3"), "0.33 0.67", (1, 2)), (number("2/3"), "0.67", (1,))):
        found = grade(question, answer)
        assert (found.outcome, found.mark, found.short) == ("short", 0, places)
        assert found.message == "Right as far as it goes. Wanted: exact, or to 4 significant figures."
    assert not grade(number("2/3"), "0.67").good


@pytest.mark.parametrize(
    ("right", "answer", "message"),
    [("-sqrt(2)", "1.414", "Right but for the sign."), ("1/3", "-1/3", "Right but for the sign."), ("0", "5", ""),
     ("2", "3", ""), ("-2", "-3", "")],
)  # fmt: skip
def test_a_number_that_is_right_but_for_its_sign(right: str, answer: str, message: str) -> None:
    found = grade(number(right), answer)
    assert (found.outcome, found.message, found.mark) == ("wrong", message, 0)


def test_a_decimal_beside_a_longer_value_is_told_the_value() -> None:
    assert grade(number("2/3"), "0.6667").message == "Rounded; exactly it is 2/3."
    assert grade(vector("2/3 1"), "0.6667 1").message == "Rounded; exactly it is 2/3, 1."
    assert grade(vector("2/3 1"), "2/3 1").message == ""
    assert grade(vector("2/3 sqrt(8)"), "4/6 2sqrt(2)").message == ""


# Listed wrong ways


def test_a_listed_wrong_way_is_named_at_the_digits_asked_or_typed() -> None:
    question = number("2/3", wrong={"one": "5/7", "two": "1/9"})
    for answer, fault in (("5/7", "one"), ("0.7143", "one"), ("0.71", "one"), ("1/9", "two"), ("0.111", "two")):
        found = grade(question, answer)
        assert (found.outcome, found.misconceptions, found.message) == ("wrong", (fault,), f"about {fault}"), answer
        assert found.mark == 0
    assert grade(question, "0.7142").misconceptions == ()
    assert grade(question, "0.7").misconceptions == ()  # one figure names nothing


def test_what_is_right_in_few_digits_and_a_wrong_way_at_those_asked() -> None:
    """0.667 is 2/3 with too few figures, and exactly the number of a wrong way."""
    assert grade(number("2/3", wrong={"cut": "0.667"}), "0.667").misconceptions == ("cut",)
    assert grade(number("2/3", wrong={"near": "0.6674"}), "0.667").outcome == "short"


def test_a_wrong_way_keeps_the_marks_of_entries_that_are_right_all_the_same() -> None:
    question = vector("1 1/3 2", wrong={"all": "1 1/7 4", "same": "2 1/3"})
    found = grade(question, "1, 0.1429, 4")
    assert (found.misconceptions, found.mark) == (("all",), F(1, 3))
    assert grade(question, "1 1/3 5").misconceptions == ("arithmetic-slip",)
    exactly = vector("1/3 2", Rule(), {"all": "1/7 4"})
    assert grade(exactly, "0.1429 4").misconceptions == ("all",)
    assert grade(exactly, "0.1430 4").misconceptions == ()


def test_rounding_on_the_way_is_right_with_full_marks() -> None:
    way = ((F("0.3340"), F("1.25")), (F("0.3331"), F("1.26")))
    question = vector("1/3 1.25", by_rounding=way)
    for answer in ("0.3340 1.25", "0.334, 1.25", "0.3331, 1.26"):
        found = grade(question, answer)
        assert (found.outcome, found.mark, found.misconceptions) == ("rounded", 1, ("rounded-intermediate",))
        assert found.good
    assert "gives 0.3333 (exactly 1/3)" in grade(question, "0.334 1.25").message
    assert "gives 1.250 (exactly 5/4)" in grade(question, "1/3 1.26").message
    assert grade(question, "0.334 1.27").outcome == "wrong"
    assert grade(question, "0.335 1.25").outcome == "wrong"


def test_a_whole_output_is_diagnosed_where_nothing_is_listed() -> None:
    run = trace([3, 5, 2, 6], LAYER, gamma="1.5", eps=0)
    question = vector(", ".join(map(exact.text, run.output)), run=run)
    for answer, outcome, fault, credit in (
        ("-0.9488 0.9488 -1.898 1.898", "rounded", "rounded-intermediate", 1),  # 1.5 times rounded factors
        ("-0.8216 0.8216 -1.643 1.643", "wrong", "unbiased-variance", 0),
        ("0.9487 -0.9487 1.897 -1.897", "wrong", "sign-flipped", 0),
        ("-0.9487 0.9487 -1.897 1.8", "wrong", "arithmetic-slip", F(3, 4)),  # cut off far above the places asked
        ("-0.9487 0.9487 -1.897 1.7", "wrong", "arithmetic-slip", F(3, 4)),
    ):
        found = grade(question, answer)
        assert (found.outcome, found.misconceptions, found.mark) == (outcome, (fault,), credit)
    assert "n - 1" in grade(question, "-0.8216 0.8216 -1.643 1.643").message


# Formulas, letters, orders


def test_a_listed_wrong_formula_is_named_by_item_and_form() -> None:
    question = ask(Formula("x/n", ("x", "n", "d"), (WrongFormula("x/(n-1)", "n, not n - 1"),)), "formula")
    found = grade(question, "x/(n - 1)")
    assert (found.outcome, found.message, found.misconceptions) == ("wrong", "n, not n - 1", ("q: x/(n-1)",))
    assert grade(question, "2x/n").misconceptions == ()
    assert grade(question, "2x/n").outcome == "wrong"
    found = grade(question, "1 + x/d")
    assert found.error is not None
    assert (found.outcome, found.message, found.error.position) == ("malformed", "d is not used here", 6)


def test_letters_and_orders_say_what_they_stand_for() -> None:
    options = (Option("one", False, "about one", "a-fault"), Option("two", True, "about two"), Option("3", False, "no"))
    chosen = [grade(ask(Choice(options), "choice"), letter) for letter in "abc"]
    assert chosen == [
        Grade("wrong", "about one", ("a-fault",)), Grade("right", "about two", mark=F(1)),
        Grade("wrong", "no", ("q: 3",)),
    ]  # fmt: skip
    order = ask(Order(("two", "three", "one"), (2, 0, 1), "so"), "order")
    assert grade(order, "cab") == Grade("right", "so", mark=F(1))
    assert grade(order, "abc").message == "Another line comes first."
    assert grade(order, "cba").message == "Right up to line 1; line 2 is another one."
    four = ask(Order(("a", "b", "c", "d"), (0, 1, 2, 3), "so"), "order")
    assert grade(four, "abdc").message == "Right up to line 2; line 3 is another one."


def test_no_answer_and_free_text() -> None:
    found = grade(number("2"), "  ")
    assert found.error is not None
    assert (found.outcome, found.error.hint) == ("malformed", "wanted: exact, or to 4 significant figures")
    assert grade(ask(Recall("m", ()), "recall"), "words") == Grade("ungraded")


@pytest.mark.parametrize(
    ("read", "text", "position", "words", "hint"),
    [
        (read_single, "1, 2", 1, "not a list", "a decimal has a point: 0.5"),
        (read_single, "1; 2", 1, "not a list", ""),
        (read_single, "1  2", 3, "not a list", ""),
        (lambda text: read_list(text, 3), "1 2 ", 3, "3 numbers are wanted, here are 2", "write them with"),
        (lambda text: read_list(text, 3), "7", 1, "here is 1", "write them with"),
        (lambda text: read_list(text, 2), "[[1], [2]]", 0, "not a table of shape (2, 1)", ""),
        (lambda text: read_letter("d", 3, text), "a d", 2, "'d' is none of the letters", "one letter from a to c"),
        (lambda text: read_order(text, 3), "aab", 0, "each of the 3 letters is wanted once", "such as cba"),
        (lambda text: read_order(text, 3), "...", 0, "each of the 3 letters is wanted once", "such as cba"),
        (lambda text: read_order(text, 3), "a d c", 2, "'d' is none", "one letter from a to c"),
    ],
)
def test_where_an_answer_is_malformed(read: Any, text: str, position: int, words: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert (caught.value.position, words in caught.value.what) == (position, True)
    assert caught.value.hint.startswith(hint)
    assert bool(caught.value.hint) == bool(hint)


# Working by hand


def test_at_the_place_that_the_rule_asks() -> None:
    assert at_place(F("0.123456"), FOUR) == F("0.1235")
    assert at_place(F("-12.3456"), Rule(decimals=0)) == -12
    assert at_place(F("-12.5"), Rule(decimals=0)) == -13
    assert at_place(F(1, 3), Rule()) == F(1, 3)
    assert at_place(F(0), FOUR) == 0


@pytest.mark.parametrize("operation", ["add", "subtract", "multiply", "divide"])
def test_only_the_results_of_a_habit_are_written_down_rounded(operation: str) -> None:
    one, other = (parse_vector(text).reshape(1, 1) for text in ("1.23456", "0.1"))
    truth = {"add": "1.33456", "subtract": "1.13456", "multiply": "0.123456", "divide": "12.3456"}[operation]
    (rounded,) = getattr(ByHand(FOUR, (operation,)), operation)(one, other).flat
    assert rounded == at_place(F(truth), FOUR) != F(truth)
    (exactly,) = getattr(ByHand(FOUR, ("power",)), operation)(one, other).flat
    assert exactly == F(truth)
    (root,) = ByHand(FOUR, ("power",)).power(parse_vector("2").reshape(1, 1), F(1, 2)).flat
    assert root == F("1.414")


def test_answers_of_careful_people_who_rounded_on_the_way() -> None:
    """The entry of 3 5 2 6 with gamma 1.5: -1.265 times 1.5 is -1.898, exactly it is -1.897."""
    right = trace([3, 5, 2, 6], LAYER, gamma="1.5", eps=0)

    def third(t: Any) -> tuple[exact.Exact, ...]:
        return (t.output[2],)

    def found(rule: Rule, pick: Any = third) -> list[tuple[Fraction, ...]]:
        return list(by_rounding(right, rule, pick, x=[3, 5, 2, 6], gamma="1.5", eps=0))

    assert found(FOUR) == [(F("-1.898"),)]
    assert found(Rule()) == []
    assert found(Rule(decimals=2)) == [(F("-1.89"),), (F("-1.91"),)]  # -1.26 and, over a root of 1.58, -1.27 times 1.5
    assert found(FOUR, lambda t: (t["mean"].value[0, 0],)) == []  # a decimal as it is: nothing to round
    assert REACH == 10


def test_rounding_on_the_way_beside_an_exact_0_and_past_a_root_that_vanishes() -> None:
    def found(x: list[Any], rule: Rule, **parameters: Any) -> list[tuple[Fraction, ...]]:
        right = trace(x, LAYER, **parameters)
        return list(by_rounding(right, rule, lambda t: tuple(t.output), x=x, **parameters))

    assert found([1, 2, 3], FOUR, gamma="1.5", eps=0) == [(F("-1.838"), 0, F("1.838"))]
    one_decimal = found([0, 0, F("0.006")], Rule(decimals=1), eps="1e-5")  # a root of 0.004 is 0 there
    assert one_decimal == [(0, 0, F("1.9"))]


def test_what_takes_too_long_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: Any) -> Grade:
        raise OutOfTime

    monkeypatch.setattr(grading, "_numbers", slow)
    found = grade(number("2"), "2")
    assert (found.outcome, found.mark, found.message) == ("undecided", 0, grading.UNDECIDED)


# Files of answers


def given(student: str, item: str, answer: str, place: str = "a, line 2") -> Given:
    return Given(student, item, answer, place)


def marked(*answers: Given) -> Report:
    return mark(Bank(), answers)


def right_answer(item: str) -> str:
    answer = Bank().question(item).answer
    assert isinstance(answer, Numbers)
    return ", ".join(map(exact.text, answer.values))


def test_the_later_of_two_answers_counts_and_free_text_does_not() -> None:
    right = right_answer("variance:1")
    report = marked(
        given("Ada", "variance:1", "77"), given("Ada", "variance:1", right), given("Ben", "variance:1", right),
        given("Ben", "variance:1", "77"), given("Ben", "axes-recall-leak-test", "words"),
        given("Cyd", "variance:1", ""),
    )  # fmt: skip
    assert report.results == (Result("Ada", F(1), 1), Result("Ben", F(0), 1), Result("Cyd", F(0), 1))
    assert [result.percent for result in report.results] == [100, 0, 0]
    assert [(m.grade.outcome, m.by_hand) for m in report.marked] == [
        ("right", False), ("wrong", False), ("ungraded", True), ("malformed", False),
    ]  # fmt: skip


def test_percent_of_part_and_of_nothing() -> None:
    assert Result("Ada", F(3, 4), 2).percent == F(75, 2)
    assert Result("Ada", F(0), 0).percent == 0


def test_what_a_person_has_to_look_at() -> None:
    report = marked(
        given("Ada", "variance:1", "foo"), given("Ben", "batchnorm-column:92", "1, 0.3333, -1.667, 0.333"),
        given("Cyd", "batchnorm-column:92", "1, 0.3333, -1.667, 0.3333"), given("Dan", "variance:1", "77"),
    )  # fmt: skip
    assert [m.by_hand for m in report.marked] == [True, True, False, False]


def test_misconceptions_most_frequent_first_then_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    grades = {
        "one": Grade("wrong", "", ("b",)), "two": Grade("wrong", "", ("a", "c")), "three": Grade("wrong", "", ("c",)),
        "four": Grade("rounded", "", ("d",)),
    }  # fmt: skip
    monkeypatch.setattr(marking, "grade", lambda question, text: grades[text])
    report = marked(*(given(str(i), "variance:1", text) for i, text in enumerate(grades)))
    assert report.misconceptions == (("c", 2), ("a", 1), ("b", 1))


def test_an_item_that_is_not_there_is_named_with_its_line() -> None:
    with pytest.raises(InputError, match="a, line 9: no item 'varience'"):
        marked(given("Ada", "variance:1", "9"), given("Ada", "varience:1", "9", "a, line 9"))


def test_a_fault_has_a_meaning_and_other_misconceptions_speak_for_themselves() -> None:
    assert "n - 1" in meaning("unbiased-variance")
    assert meaning("q: one") == ""


def read(tmp_path: Path, data: str | bytes, name: str = "a.csv") -> list[tuple[str, ...]]:
    path = tmp_path / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    found = read_answers(str(path))
    assert all(g.place.startswith(f"{path}, ") for g in found)
    return [(g.student, g.item, g.answer, g.place.removeprefix(f"{path}, ")) for g in found]


def test_lines_and_cells(tmp_path: Path) -> None:
    text = ' Student , ITEM,answer\n\nAda , variance:1 , 9 \n , ,\n"Ben\nB",x,"1, 2"\nCyd,y,1,2,3\n'
    assert read(tmp_path, text) == [
        ("Ada", "variance:1", " 9 ", "line 3"), ("Ben\nB", "x", "1, 2", "line 6"), ("Cyd", "y", "1,2,3", "line 7"),
    ]  # fmt: skip
    assert read(tmp_path, "student;item;answer\nA;x;0,5\n")[0][2] == "0,5"
    assert read(tmp_path, "student\titem\tanswer\tnote, of all\nA\tx\t1\t-\n")[0][2] == "1"


def test_json_keeps_numbers_as_they_stand(tmp_path: Path) -> None:
    first = '{"student": " A ", "item": "x", "answer": [0.10, [1e400, -2], null]}'
    entries = f'[{first}, {{"student": 7, "item": "y", "answer": null}}]'
    wanted = [("A", "x", "0.10, 1e400, -2, ", "answer 1"), ("7", "y", "", "answer 2")]
    assert read(tmp_path, entries, "a.json") == read(tmp_path, "\n " + entries, "a.txt") == wanted
    assert read(tmp_path, f'{{"answers": {entries}}}', "A.JSON") == wanted


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.csv", b"student,item,answer\n\xff,x,1\n", "line 2: not UTF-8"),
        ("a.csv", b"student,item\n", "line 1: no column answer"),
        ("a.csv", b"item\n", "line 1: no column student, answer"),
        ("a.csv", b"answer,student,item\n1,2,Ada,x\n", "line 2: 4 cells, the first line has 3"),
        ("a.csv", b"student,item,answer\nAda,x," + b"1" * 140_000 + b"\n", "line 2: field larger"),
        ("a.csv", b"student,item,answer\nAda,x\n", "line 2: 2 cells, the first line has 3"),
        ("a.csv", b"student,item,answer\n\n", "holds no answers"),
        ("a.json", b'[\n{"student": 1,}]', "line 2: is not JSON"),
        ("a.json", b"[" * 100_000, ": is not JSON"),
        ("a.json", b'[{"student": "A", "item": "x", "answer": 1}, 7]', "answer 2: needs student, item and answer"),
        ("a.json", b'[{"student": "A", "item": "x"}]', "answer 1: needs student"),
        ("a.json", b'{"answers": {}}', "is no list of answers"),
        ("a.json", b"7", "is no list of answers"),
        ("a.json", b"[]", "holds no answers"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, name: str, data: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_answers(str(tmp_path / name))
    assert words in caught.value.what
    assert caught.value.hint


def test_the_largest_file_of_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = json.dumps([{"student": "A", "item": "x", "answer": "1"}])
    monkeypatch.setattr(marking, "MAX_BYTES", len(data))
    assert len(read(tmp_path, data, "a.json")) == 1
    with pytest.raises(InputError, match=f"larger than {len(data)} bytes"):
        read(tmp_path, data + " ", "a.json")
