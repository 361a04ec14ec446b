"""Items as the quiz loads them: the project's own held to its rules, a teacher's packs refused by line."""

import textwrap
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from lnorm_cli import exact
from lnorm_cli.cli.edge import run
from lnorm_cli.errors import InputError
from lnorm_cli.faults.catalogue import catalogue
from lnorm_cli.quiz.bank import TOPICS, Bank
from lnorm_cli.quiz.concepts import Concept
from lnorm_cli.quiz.content import DATA, own_items, read_pack
from lnorm_cli.quiz.formulas import compare, read_formula
from lnorm_cli.quiz.generators import generators
from lnorm_cli.quiz.grading import grade
from lnorm_cli.quiz.questions import Choice, Formula, Numbers, Order, Question, letter
from lnorm_cli.quiz.rules import Rule, decimal

COVERAGE = {f"N{number}" for number in range(1, 11)} | {f"I{number}" for number in range(1, 22)}
OWN = own_items()
SOURCES = tomllib.loads((DATA.parent / "sources.toml").read_text("utf-8"))


def of_kind(*kinds: str) -> list[Concept]:
    return [item for item in OWN if item.kind in kinds]


def question_of(item: Concept) -> Question:
    return item.question(3)


# The project's own items


def test_every_own_file_passes_the_validation_of_packs() -> None:
    ids: set[str] = set()
    for path in sorted(DATA.glob("*.toml")):
        items = read_pack(path, ids)
        ids |= {item.key for item in items}
    assert len(ids) == len(OWN) >= 80
    assert not ids & set(generators())


def test_items_and_generators_ask_every_row_of_the_curriculum() -> None:
    assert {row for item in OWN for row in item.covers} == COVERAGE
    for generator in generators().values():
        assert set(generator.covers) <= COVERAGE
        assert generator.source in SOURCES
        assert generator.topic in TOPICS


def test_topics_stand_in_the_order_in_which_they_are_taught() -> None:
    fronts = [tomllib.loads(path.read_text("utf-8").split("+++")[1]) for path in (DATA.parent / "topics").glob("*.md")]
    order = {
        front["order"]: path.stem for front, path in zip(fronts, (DATA.parent / "topics").glob("*.md"), strict=True)
    }
    assert [order[number] for number in sorted(order)] == list(TOPICS[1:])
    assert Bank().topics() == list(TOPICS)


@pytest.mark.parametrize("item", OWN, ids=lambda item: item.key)
def test_an_item_makes_a_question(item: Concept) -> None:
    q = question_of(item)
    assert len(q.hints) >= 2
    assert all(hint.strip() for hint in q.hints)
    assert q.source in SOURCES
    assert q.prompt.strip()
    assert q.rule
    assert Bank().question(q.id).prompt == q.prompt


@pytest.mark.parametrize("item", of_kind("choice", "spot"), ids=lambda item: item.key)
def test_choices_are_one_right_and_every_wrong_one_says_why(item: Concept) -> None:
    q = question_of(item)
    assert isinstance(q.answer, Choice)
    assert sum(option.right for option in q.answer.options) == 1
    for place, option in enumerate(q.answer.options):
        found = grade(q, letter(place))
        assert found.good == option.right
        if not option.right:
            assert found.message
            assert found.misconceptions
    orders = {tuple(o.text for o in item.question(seed).answer.options) for seed in range(20)}  # type: ignore[union-attr]
    assert len(orders) > 3


@pytest.mark.parametrize("item", of_kind("order"), ids=lambda item: item.key)
def test_lines_are_shown_in_another_order(item: Concept) -> None:
    for seed in range(20):
        q = item.question(seed)
        assert isinstance(q.answer, Order)
        assert list(q.answer.lines) != list(item.data["lines"])
        assert [q.answer.lines[place] for place in q.answer.right] == list(item.data["lines"])
        assert grade(q, "".join(letter(place) for place in q.answer.right)).good
        assert not grade(q, "".join(letter(place) for place in range(len(q.answer.lines)))).good


@pytest.mark.parametrize("item", of_kind("formula"), ids=lambda item: item.key)
def test_formulas_are_told_apart_by_the_grader(item: Concept) -> None:
    q = question_of(item)
    assert isinstance(q.answer, Formula)
    assert grade(q, q.answer.text).outcome == "right"
    for wrong in q.answer.wrong:
        found = grade(q, wrong.text)
        assert (found.outcome, found.message) == ("wrong", wrong.feedback), wrong
    forms = [read_formula(w.text, q.answer.names) for w in q.answer.wrong]
    for i, one in enumerate(forms):
        assert all(compare(one, other) == "different" for other in forms[:i])


@pytest.mark.parametrize("item", of_kind("number", "vector"), ids=lambda item: item.key)
def test_numbers_are_computed_never_stored(item: Concept) -> None:
    assert "answer" not in item.data
    q = question_of(item)
    assert isinstance(q.answer, Numbers)
    assert q.work
    assert len(q.answer.wrong) >= 1
    rule = q.answer.rule if q.answer.rule != Rule() else Rule(figures=6)
    texts = [tuple(decimal(exact.approximate(v), rule) for v in values)
             for values in (q.answer.values, *(w.value for w in q.answer.wrong))]  # fmt: skip
    assert len(set(texts)) == len(texts)
    assert grade(q, ", ".join(map(exact.text, q.answer.values))).outcome == "right"


@pytest.mark.parametrize("item", of_kind("spot"), ids=lambda item: item.key)
def test_spots_use_known_faults_whose_numbers_differ(item: Concept) -> None:
    """Concept.question refuses a spot whose faults give equal numbers; here the ids."""
    assert {item.data["fault"], *item.data["others"]} <= set(catalogue())
    assert dict(question_of(item).given)["result"]


# Packs

GOOD = """
[[item]]
id = "mine-1"
kind = "number"
topic = "mine"
prompt = "How many?"
answer = "0.25"
precision = "within 0.001"

[[item]]
id = "mine-2"
kind = "choice"
prompt = "Which [red] one?"
choices = [{text = "this", right = true}, {text = "that", feedback = "no"}]
"""


def pack(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def test_a_pack_is_asked_with_the_rest(tmp_path: Path) -> None:
    bank = Bank([str(pack(tmp_path, GOOD))])
    assert len(bank.items) == len(Bank().items) + 2
    assert bank.topics()[-2:] == ["mine", "own"]
    assert grade(bank.question("mine-1"), "0.251").outcome == "right"
    assert grade(bank.question("mine-1"), "0.2511").outcome == "wrong"
    assert bank.topic("MINE") == "mine"


BAD = [
    ('[[item]]\nid = "a"\nkind = "choice"\n', 1, "prompt is missing"),
    ('\n\n[[item]]\nid = "a"\nkind = "multi"\nprompt = "?"\n', 5, "not one of"),
    ('[[item]]\nid = "a"\nkind = "recall"\nprompt = ""\nmodel = "m"\n', 4, "prompt is empty"),
    ('[[item]]\nid = "a"\nkind = "recall"\nprompt = "?"\nmodel = 3\n', 5, "model is not a text"),
    ('[[item]]\nid = "a"\nkind = "recall"\nprompt = "?"\nmodel = "m"\nhint = ["x"]\n', 6, "unknown field 'hint'"),
    ('[[item]]\nid = "a"\nkind = "recall"\nprompt = "?"\nmodel = "m"\nhints = ["x", ""]\n', 6, "none of them empty"),
    ('[[item]]\nid = "a"\nkind = "recall"\nprompt = "?"\nmodel = "m"\nexplain = "layrnorm"\n', 6,
     "there is no topic 'layrnorm'; did you mean layernorm"),
    ('[[item]]\nid = "a"\nkind = "spot"\nprompt = "?"\nx = "1 2 3"\nfault = "sum-not-mean"\n'
     'others = ["unbiased-variance"]\ndigits = 9223372036854775807\n', 8, "digits is 9223372036854775807, not from 1"),
    ('[[item]]\nid = "a b"\nkind = "recall"\nprompt = "?"\nmodel = "m"\n', 2, "letters, digits"),
    ('[[item]]\nid = "a"\nkind = "choice"\nprompt = "?"\nchoices = [{text="x"}, {text="y"}]\n', 5, "exactly one"),
    ('[[item]]\nid = "a"\nkind = "choice"\nprompt = "?"\nchoices = [{text="x", right=true}, {text="y", right=true}]\n',
     5, "exactly one"),
    ('[[item]]\nid = "a"\nkind = "choice"\nprompt = "?"\nchoices = [{text="x", right=true}, {text="x"}]\n',
     5, "the same"),
    ('[[item]]\nid = "a"\nkind = "order"\nprompt = "?"\nlines = ["x", "x"]\n', 5, "all different"),
    ('[[item]]\nid = "a"\nkind = "formula"\nprompt = "?"\nanswer = "x + foo"\n', 5, "unknown name 'foo'"),
    ('[[item]]\nid = "a"\nkind = "formula"\nprompt = "?"\nanswer = "q"\nnames = ["q"]\n', 5, "a command"),
    ('[[item]]\nid = "a"\nkind = "formula"\nprompt = "?"\nanswer = "x"\nnames = ["sqrt"]\n', 6, "a function"),
    ('[[item]]\nid = "a"\nkind = "number"\nprompt = "?"\nanswer = "1..2"\n', 5, "unexpected"),
    ('[[item]]\nid = "a"\nkind = "number"\nprompt = "?"\n', 3, "either compute or answer"),
    ('[[item]]\nid = "a"\nkind = "number"\nprompt = "?"\nanswer = "1"\nprecision = "very"\n', 6, "none of"),
    ('[[item]]\nid = "a"\nkind = "number"\nprompt = "?"\ncompute = {x = "1 2", step = "meen", index = 0}\n', 5, "step"),
    ('[[item]]\nid = "a"\nkind = "number"\nprompt = "?"\ncompute = {x = "1 2", step = "output", index = 7}\n',
     5, "index"),
    ('[[item]]\nid = "a"\nkind = "number"\nprompt = "?"\ncompute = {x = "3 3", step = "output", index = 0}\n',
     5, "0/0"),
    ('[[item]]\nid = "a"\nkind = "spot"\nprompt = "?"\nx = "1 2 4"\nfault = "sloth"\nothers = ["not-centered"]\n', 6,
     "unknown fault"),
    ('[[item]]\nid = "a"\nkind = "spot"\nprompt = "?"\nx = "-1 1"\nfault = "variance-not-root"\n'
     'others = ["not-centered"]\n', 6, "same numbers"),
    ('[[item]]\nid = "variance"\nkind = "recall"\nprompt = "?"\nmodel = "m"\n', 2, "used already"),
    ('[[item]]\nid = "a"\nkind = "recall"\nprompt = "?"\nmodel = "m"\n\n[[item]]\nid = "a"\nkind = "recall"\n'
     'prompt = "?"\nmodel = "m"\n', 8, "used already"),
    ('[[item]]\nid = "a"\nkind = "spot"\nprompt = "?"\nx = "1 2 3"\nfault = "sum-not-mean"\n'
     'others = ["unbiased-variance"]\nnorm = "layur"\n', 8, "norm is 'layur', not one of layer, rms"),
    ('[[item]]\nid = "a"\nkind = "number"\nprompt = "?"\ncompute = {x = "1 2", step = "output", index = 1e400}\n', 5,
     "index a whole number"),
    ('[[item]]\nid = "a"\nkind = "number"\nprompt = "?"\nanswer = "1"\nwrong = [{answer = 2}]\n', 6, "{answer ="),
    ('[[item]]\nid = "a"\nkind = "formula"\nprompt = "?"\nanswer = "x"\nwrong = ["2*x"]\n', 6, "is written"),
    ('[[item]]\nid = "a"\nkind = "choice"\nprompt = "?"\n'
     'choices = [{text = "a", right = true}, {text = "b", feedback = 1}]\n', 5, "feedback is a text"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "what"), BAD, ids=[what for _, _, what in BAD])
def test_a_bad_pack_is_refused_by_file_line_and_item(text: str, line: int, what: str, tmp_path: Path) -> None:
    path = pack(tmp_path, text)
    with pytest.raises(InputError) as caught:
        Bank([str(path)])
    message = caught.value.what
    assert message.startswith(f"{path}, line {line}, item ")
    assert what in message


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"[[item]\n", "line 1: not TOML"),
        (b'[[item]]\nid = "a\n', "line 2: not TOML"),
        (b"", "holds no [[item]]"),
        (b"item = 3\n", "holds no [[item]]"),
        (b'title = "x"\n[[item]]\nid = "a"\n', "unknown field 'title'"),
        (b'[[item]]\nid = "\xff"\n', "line 2: not UTF-8"),
    ],
)
def test_a_file_that_is_no_pack_is_refused(data: bytes, what: str, tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"p\.toml") as caught:
        Bank([str(path)])
    assert what in caught.value.what


def test_a_missing_pack_and_many_problems(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        Bank([str(tmp_path / "none.toml")])
    many = "".join(f'[[item]]\nid = "i{n}"\nkind = "x"\nprompt = "?"\n' for n in range(30))
    with pytest.raises(InputError) as caught:
        Bank([str(pack(tmp_path, many))])
    assert caught.value.what.count("\n") == 8
    assert caught.value.what.endswith("and 22 more")


def test_problems_of_a_pack_stand_one_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two = "".join(f'[[item]]\nid = "i{n}"\nkind = "x"\nprompt = "?"\n' for n in range(2))
    assert run(["quiz", "--pack", str(pack(tmp_path, two))]) == 2
    first, second, hint = capsys.readouterr().err.splitlines()
    assert first.startswith("error: ")
    assert first.endswith("number, vector, formula, choice, order, spot, recall")
    assert "line 7, item 'i1': kind is 'x'" in second
    assert hint == "hint: mend these lines of the pack"


def test_a_topic_to_read_has_any_of_its_names(tmp_path: Path) -> None:
    text = '[[item]]\nid = "a"\nkind = "recall"\nprompt = "?"\nmodel = "m"\nexplain = "Pre-LN"\n'
    assert Bank([str(pack(tmp_path, text))]).question("a").explain == "Pre-LN"


# Finding


def test_topics_and_ids_are_suggested() -> None:
    bank = Bank()
    assert bank.topic("Layer Norm") == "layernorm"
    for name, suggestion in (("epsilom", "epsilon"), ("pre-nrom", "prenorm")):
        with pytest.raises(InputError) as caught:
            bank.topic(name)
        assert suggestion in caught.value.hint
    for id, hint in (("varience:3", "variance"), ("variance", "variance:7"), ("variance:x", "sheet")):
        with pytest.raises(InputError) as caught:
            bank.question(id)
        assert hint in caught.value.hint


def test_a_statistic_needs_no_index() -> None:
    item = {"id": "a", "kind": "number", "prompt": "?", "precision": "exact"}
    compute = {"x": "3 5 2 6", "eps": "0", "step": "variance"}
    question = Concept({**item, "compute": compute}).question(0)
    assert question.answer.values == (Fraction(5, 2),)  # type: ignore[union-attr]
    with pytest.raises(KeyError):
        Concept({**item, "compute": {**compute, "step": "output"}}).question(0)
