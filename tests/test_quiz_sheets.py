"""Worksheets, keys, marking and the export to Anki, through the command line."""

import csv
import html
import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lnorm_cli import exact
from lnorm_cli.cli.edge import run
from lnorm_cli.quiz.bank import Bank
from lnorm_cli.quiz.generators import generators
from lnorm_cli.quiz.grading import grade
from lnorm_cli.quiz.latex import escaped
from lnorm_cli.quiz.questions import Choice, Numbers, Order, letter
from lnorm_cli.quiz.typeset import formula_text, names_in
from lnorm_cli.render.notation import LATEX, UNICODE


@pytest.fixture(autouse=True)
def own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LNORM_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


def lnorm(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    found = run(["quiz", *arguments])
    out, err = capsys.readouterr()
    assert found == code, err
    return out if code != 2 else err


# Sheets


@pytest.mark.parametrize("format", ["markdown", "latex", "json"])
def test_the_same_seed_gives_the_same_bytes(format: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    sheets, keys = [], []
    for _ in range(2):
        sheets.append(lnorm(capsys, "worksheet", "--seed", "7", "--count", "12", "-f", format, "--key", "key"))
        keys.append((tmp_path / "key").read_bytes())
    assert sheets[0] == sheets[1]
    assert keys[0] == keys[1]
    assert sheets[0] != lnorm(capsys, "worksheet", "--seed", "8", "--count", "12", "-f", format)
    assert list(tmp_path.iterdir()) == [tmp_path / "key"], "nothing else is written"


def test_sheets_are_the_same_in_another_process_and_hash_seed(capsys: pytest.CaptureFixture[str]) -> None:
    here = lnorm(capsys, "worksheet", "--seed", "11", "--count", "40", "--json")
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-m", "lnorm_cli", "quiz", "worksheet", "--seed", "11", "--count", "40", "--json"],
            capture_output=True, text=True, env={"PYTHONHASHSEED": hash_seed, "PATH": ""}, timeout=60,
        )  # fmt: skip
        assert done.stdout == here, done.stderr


def test_half_of_a_sheet_is_numeric_and_topics_take_turns(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(lnorm(capsys, "worksheet", "--seed", "1", "--count", "20", "--json"))
    assert (document["schema"], document["kind"], document["seed"]) == ("lnorm/quiz/1", "worksheet", 1)
    keys = [q["id"].partition(":")[0] for q in document["questions"]]
    assert sum(key in generators() for key in keys) == 10
    assert len({q["topic"] for q in document["questions"]}) >= 10
    assert len({q["id"] for q in document["questions"]}) == 20


def test_a_topic_and_more_questions_than_items(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(lnorm(capsys, "worksheet", "--seed", "1", "--count", "60", "--topic", "epsilon", "--json"))
    assert len(document["questions"]) == 60
    assert {q["topic"] for q in document["questions"]} == {"epsilon"}


def test_the_sheet_tells_no_answer_and_the_key_all(capsys: pytest.CaptureFixture[str]) -> None:
    sheet = json.loads(lnorm(capsys, "worksheet", "--seed", "5", "--count", "80", "--json", "--key", "k.json"))
    key = json.loads(Path("k.json").read_text("utf-8"))
    bank = Bank()
    for asked, solved in zip(sheet["questions"], key["questions"], strict=True):
        assert "answer" not in asked
        assert "wrong" not in asked
        question = bank.question(asked["id"])
        assert question.prompt == asked["prompt"] == solved["prompt"]
        right = solved["answer"]
        if isinstance(question.answer, Numbers):
            values = [right] if question.answer.single else right
            text = ", ".join(value["exact"] for value in values)
            assert solved["steps"] or not question.work
        else:
            text = right
        if question.kind != "recall":
            assert grade(question, text).outcome == "right"


@pytest.mark.parametrize("format", ["markdown", "latex"])
def test_the_key_shows_worked_steps(format: str, capsys: pytest.CaptureFixture[str]) -> None:
    lnorm(capsys, "worksheet", "--seed", "2", "--count", "10", "--topic", "layernorm", "-f", format, "--key", "k")
    key = Path("k").read_text("utf-8")
    assert "variance" in key
    assert ("Σ" if format == "markdown" else r"\sum") in key
    assert ("**Answer:**" if format == "markdown" else r"\textbf{Answer:}") in key


def test_an_ascii_stdout_gets_an_ascii_sheet() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lnorm_cli", "quiz", "worksheet", "--seed", "3", "--count", "60"],
        capture_output=True, env={"PYTHONIOENCODING": "ascii", "PATH": ""}, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stdout.isascii()


def test_a_key_that_cannot_be_written_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "cannot be written" in lnorm(capsys, "worksheet", "--key", "none/k.md", code=2)
    assert ". cannot be written: it is a directory" in lnorm(capsys, "worksheet", "--key", ".", code=2)
    assert ". cannot be written: it is a directory" in lnorm(capsys, "export", "--anki", ".", code=2)


def test_latex_takes_any_text() -> None:
    assert escaped(r"50% of x_1 & {a} #2 ~ \x ^ $5 <b> σ² é") == (
        r"50\% of x\_1 \& \{a\} \#2 \textasciitilde{} \textbackslash{}x \textasciicircum{} \$5 "
        r"\textless{}b\textgreater{} sigma\textasciicircum{}2 é"
    )


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs a TeX")
@pytest.mark.parametrize("topic", [[], ["--topic", "layernorm", "--topic", "backward", "--topic", "own"]])
def test_latex_compiles(topic: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "pack.toml").write_text(
        '[[item]]\nid = "odd"\nkind = "choice"\nprompt = "100% of $x_1 & \\\\ {é} #~^?"\n'
        'choices = [{text = "<b> \'a\' \\"b\\"", right = true}, {text = "σ² − √2 …"}]\n'
        '[[item]]\nid = "signs"\nkind = "formula"\nprompt = "γ, x, σ, x_1?"\nnames = ["x_1"]\n'
        'answer = "γ·(x − μ)²/√(σ + 1e-5) + x_1^-1"\nwrong = [{answer = "abs(x)", feedback = "50% & _"}]\n',
        encoding="utf-8",
    )
    text = lnorm(
        capsys,
        "worksheet",
        "--seed",
        "4",
        "--count",
        "25",
        "-f",
        "latex",
        "--key",
        "key.tex",
        *topic,
        "--pack",
        "pack.toml",
    )
    (tmp_path / "sheet.tex").write_text(text, encoding="utf-8")
    for name in ("sheet.tex", "key.tex"):
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", name],
            cwd=tmp_path,
            capture_output=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-1500:]


KEY_PACK = r"""
[[item]]
id = "rows"
kind = "vector"
prompt = "?"
precision = "3 decimals"
compute = {x = "3 5 2 6", gamma = "1/2 1 3/2 2", step = "output"}

[[item]]
id = "ratio"
kind = "number"
prompt = "?"
precision = "3 decimals"
answer = "2/3"
wrong = [{answer = "sqrt(2)", feedback = "No root here."}]

[[item]]
id = "fifth"
kind = "number"
prompt = "?"
answer = "1/5"

[[item]]
id = "near"
kind = "number"
prompt = "?"
precision = "within 0.01"
answer = "1/7"

[[item]]
id = "divisor"
kind = "formula"
prompt = "By what is x - mu divided? Use var and eps."
answer = "sqrt(var + eps)"
wrong = [{answer = "sqrt(var) + eps^2", feedback = "Inside."}, {answer = "2*gamma", feedback = "No."}]
"""


def pack_key(capsys: pytest.CaptureFixture[str], tmp_path: Path, format: str) -> tuple[str, str]:
    (tmp_path / "pack.toml").write_text(KEY_PACK, encoding="utf-8")
    arguments = ("--pack", "pack.toml", "--topic", "own", "--count", "5", "-f", format, "--seed", "1", "--key", "k")
    sheet = lnorm(capsys, "worksheet", *arguments)
    return sheet, (tmp_path / "k").read_text("utf-8")


def test_a_key_shows_answers_at_the_precision_asked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, key = pack_key(capsys, tmp_path, "markdown")
    assert "**Answer:** -√10/10, √10/5, -3√10/5, 4√10/5 ≈ -0.316, 0.632, -1.897, 2.530\n" in key
    assert "**Answer:** 2/3 ≈ 0.667\n" in key
    assert "**Answer:** 1/7 ≈ 0.143\n" in key
    assert "- √2 ≈ 1.414: No root here.\n" in key


def test_a_decimal_that_is_the_value_itself_is_equal_to_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "**Answer:** 1/5 = 0.2\n" in pack_key(capsys, tmp_path, "markdown")[1]
    assert r"\textbf{Answer:} $\frac{1}{5}$ = $0.2$" in pack_key(capsys, tmp_path, "latex")[1]


def test_a_latex_key_holds_mathematics_and_the_wrong_ways(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, key = pack_key(capsys, tmp_path, "latex")
    assert r"\textbf{Answer:} $\frac{2}{3}$ $\approx$ $0.667$" in key
    assert r"\item $\sqrt{2}$ $\approx$ $1.414$: No root here." in key
    assert r"\textbf{Answer:} $\sqrt{\mathrm{var} + \varepsilon}$" in key
    assert r"\item $\sqrt{\mathrm{var}} + \varepsilon ^{2}$: Inside." in key
    assert "sqrt(" not in key.replace("sqrt(variance + epsilon)", "")
    assert "{*}" not in key


def test_a_heading_in_a_latex_key_stands_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lnorm(capsys, "worksheet", "--topic", "batchnorm", "--count", "8", "--seed", "1", "-f", "latex", "--key", "k")
    key = (tmp_path / "k").read_text("utf-8")
    assert re.search(r"^(First|Second) feature:\n\n\\noindent 1\. mean$", key, re.MULTILINE)


def test_a_formula_is_wanted_in_the_names_that_answers_need(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "*Wanted: a formula in var, eps.*" in pack_key(capsys, tmp_path, "markdown")[0]


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("gamma*(x - mu)/sqrt(var + eps) + beta",
         r"$\gamma \, (x - \mu) / \sqrt{\mathrm{var} + \varepsilon} + \beta$"),
        ("abs(a - b)/2", r"$\left|a - b\right| / 2$"),
        ("(1 + r)**12*2^(1/2)", r"$(1 + r) ^{12} \cdot 2 ^{1 / 2}$"),
        ("γ·(x − μ)²/(σ + 1e-5)", r"$\gamma \, (x - \mu) ^{2} / (\sigma + 1 \cdot 10^{-5})$"),
        ("√2*x_1^-1", r"$\sqrt{2} \, \mathrm{x\_1} ^{-1}$"),
    ],
)  # fmt: skip
def test_a_formula_in_latex_keeps_its_form(text: str, latex: str) -> None:
    assert formula_text(text, LATEX) == latex
    assert formula_text(text, UNICODE) == text


def test_the_names_of_a_formula() -> None:
    assert names_in("γ*abs(x − mu)/sqrt(var + 1e-5) + x_1^pi") == ("gamma", "x", "mu", "var", "x_1")


def test_what_was_written_is_said_beside_the_sheet(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "pack.toml").write_text(KEY_PACK.partition('[[item]]\nid = "fifth"')[0], encoding="utf-8")
    assert run(["quiz", "worksheet", "--key", "k.md", "--count", "3", "--pack", "pack.toml", "--topic", "own"]) == 0
    assert capsys.readouterr().err == "note: there are only 2 different questions here\nwrote the key to k.md\n"
    (tmp_path / "pack.toml").write_text('[[item]]\nid = "a"\nkind = "recall"\nprompt = "?"\nmodel = "m"\n', "utf-8")
    assert run(["quiz", "worksheet", "--count", "3", "--pack", "pack.toml", "--topic", "own"]) == 0
    assert capsys.readouterr().err == "note: there is only 1 question here\n"


# Marking


def answers(path: Path, rows: list[tuple[str, str, str]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerows([("student", "item", "answer"), *rows])
    path.write_text(buffer.getvalue(), encoding="utf-8")
    return str(path)


def right_answer(id: str) -> str:
    answer = Bank().question(id).answer
    if isinstance(answer, Numbers):
        return ", ".join(map(exact.text, answer.values))
    assert isinstance(answer, Choice)
    return letter(answer.right)


def test_marks_and_misconceptions(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    question = Bank().question("normalized-vector:2").answer
    assert isinstance(question, Numbers)
    unbiased = ", ".join(f"{exact.to_float(v):.5g}" for v in question.wrong[0].value)
    file = answers(
        tmp_path / "a.csv",
        [
            ("Ada", "normalized-vector:2", right_answer("normalized-vector:2")),
            ("Ada", "axes-causal:3", right_answer("axes-causal:3")),
            ("Bob [red]", "normalized-vector:2", unbiased),
            ("Bob [red]", "axes-causal:3", "?"),
            ("Cyd", "normalized-vector:2", unbiased),
            ("Cyd", "axes-recall-leak-test", "two batches"),
            ("Cyd", "axes-causal:3", ""),
        ],
    )
    document = json.loads(lnorm(capsys, "grade", file, "--json"))
    assert document["schema"] == "lnorm/quiz/1"
    assert [(s["student"], s["mark"], s["of"]) for s in document["students"]] == [
        ("Ada", 2.0, 2), ("Bob [red]", 0.0, 2), ("Cyd", 0.0, 2),
    ]  # fmt: skip
    assert document["misconceptions"][0]["id"] == "unbiased-variance"
    assert document["misconceptions"][0]["count"] == 2
    text = lnorm(capsys, "grade", file)
    assert "Bob [red]" in text
    assert "2 x unbiased-variance" in text
    assert "free text" in text
    assert lnorm(capsys, "grade", file, "--pass", "50", code=1)
    assert lnorm(capsys, "grade", file, "--pass", "0", code=0)


def test_a_student_with_everything_right_passes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    sheet = json.loads(lnorm(capsys, "worksheet", "--seed", "9", "--count", "30", "--json", "--key", "k.json"))
    key = json.loads(Path("k.json").read_text("utf-8"))
    rows = []
    for asked, solved in zip(sheet["questions"], key["questions"], strict=True):
        right: Any = solved["answer"]
        if isinstance(right, dict):
            right = f"{right['float']:.5g}"
        elif isinstance(right, list):
            right = " ".join(f"{value['float']:.5g}" for value in right)
        rows.append(("Ada", asked["id"], right))
    document = json.loads(lnorm(capsys, "grade", answers(tmp_path / "a.csv", rows), "--json", "--pass", "100"))
    assert document["students"][0]["percent"] == 100
    assert document["misconceptions"] == []


def test_parts_of_a_vector_count_in_part(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    question = Bank().question("normalized-vector:2").answer
    assert isinstance(question, Numbers)
    values = [exact.text(v) for v in question.values]
    values[0] = "77"
    file = answers(tmp_path / "a.csv", [("Ada", "normalized-vector:2", " ".join(values))])
    mark = json.loads(lnorm(capsys, "grade", file, "--json"))["students"][0]["mark"]
    assert mark == pytest.approx((len(values) - 1) / len(values))


def test_too_few_figures_are_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = [("Ada", "batchnorm-column:92", "1, 0.3333, -1.667, 0.333"), ("Ben", "layernorm-variance-123", "0.67")]
    file = answers(tmp_path / "a.csv", rows)
    text = " ".join(lnorm(capsys, "grade", file).split())
    assert "Ada 0.75/2" in text
    assert "0.333 (too few figures, 0.75 of 1: Entry 4 is right as far as it goes. Wanted:" in text
    assert "0.67 (too few figures, 0 of 1: Right as far as it goes. Wanted:" in text


@pytest.mark.parametrize(
    "text",
    [
        '\ufeffStudent;Item;Answer\nAda;variance:1;9\n',
        "student\titem\tanswer\nAda\tvariance:1\t9\n",
        "item,student,answer\nvariance:1, Ada ,9\n\n",
        '[{"student": "Ada", "item": "variance:1", "answer": 9}]',
        '{"answers": [{"student": "Ada", "item": "variance:1", "answer": "9.0"}]}',
    ],
)  # fmt: skip
def test_files_as_people_write_them(text: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a").write_text(text, encoding="utf-8")
    (student,) = json.loads(lnorm(capsys, "grade", "a", "--json"))["students"]
    assert (student["student"], student["mark"]) == ("Ada", 1)


def test_an_unquoted_vector_in_the_last_column(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    vector = right_answer("normalized-vector:2")
    (tmp_path / "a.csv").write_text(f"student,item,answer\nAda,normalized-vector:2,{vector}\n", encoding="utf-8")
    assert json.loads(lnorm(capsys, "grade", "a.csv", "--json"))["students"][0]["mark"] == 1


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no answers"),
        ("name,item,answer\nAda,variance:1,9\n", "line 1: no column student"),
        ("student,item,answer\nAda,varience:1,9\n", "line 2: no item 'varience'"),
        ("student,item,answer\nAda\n", "line 2: 1 cells"),
        ('[{"student": "Ada"}]', "answer 1: needs"),
        ("[1, 2", "is not JSON"),
        ("{}", "no list of answers"),
    ],
)
def test_files_that_cannot_be_marked(text: str, what: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a").write_text(text, encoding="utf-8")
    assert what in lnorm(capsys, "grade", "a", code=2)


def test_a_missing_file_of_answers(capsys: pytest.CaptureFixture[str]) -> None:
    assert "cannot be read" in lnorm(capsys, "grade", "none.csv", code=2)


# Anki


def anki_notes(text: str) -> tuple[dict[str, str], list[list[str]]]:
    """A parser of Anki's text import: headers, then notes; a # in front makes a comment, quotes group."""
    headers, body = {}, []
    for line in text.split("\n"):
        if line.startswith("#"):
            name, _, value = line[1:].partition(":")
            headers[name] = value
        elif line:
            body.append(line)
    return headers, list(csv.reader(body, delimiter="\t", quotechar='"'))


def test_anki_import(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "pack.toml").write_text(
        '[[item]]\nid = "odd"\nkind = "recall"\nprompt = "# a\\tb \\"c\\" <b>&\\nnext"\n'
        'model = "\\"quoted\\" from the start"\n',
        encoding="utf-8",
    )
    said = lnorm(capsys, "export", "--anki", "cards.txt", "--pack", "pack.toml")
    text = (tmp_path / "cards.txt").read_text("utf-8")
    headers, notes = anki_notes(text)
    assert headers["separator"] == "tab"
    assert headers["html"] == "true"
    assert f"wrote {len(notes)} cards to cards.txt;" in said
    assert all(len(note) == 4 for note in notes)
    assert (
        len({note[0] for note in notes})
        == len(notes)
        == len(Bank().items) - len(generators()) + 1 + 3 * len(generators())
    )
    odd = next(note for note in notes if note[0] == "lnorm-odd")
    assert odd[1] == "&#35; a b &quot;c&quot; &lt;b&gt;&amp;<br>next"
    assert odd[2].startswith("&quot;quoted&quot; from the start")
    for note in notes:
        plain = html.unescape(re.sub(r"</?(br|i|code)>", " ", note[1]))
        assert plain.strip()
        assert not re.search(r"<(?!/?(br|i|code)>)", note[1] + note[2])
        assert note[2].strip()


def test_anki_cards_are_the_same_every_time(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = []
    for name in ("one", "two"):
        lnorm(capsys, "export", "--anki", name, "--topic", "epsilon", "--seed", "3")
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]


def test_orders_are_marked_from_paper() -> None:
    question = Bank().question("layernorm-order-forward:12")
    assert isinstance(question.answer, Order)
    assert grade(question, " ".join(letter(place) for place in question.answer.right)).good
