"""Streams of answers to `lnorm quiz`: none may crash, hang, or end otherwise than with 0, or 2 for bad options.

    python tests/long/fuzz_quiz.py [--count 50000] [--seed 1] [--start 0] [--seconds 10] [--workers 1]

An input is one stream: what the learner types at the questions that this seed asks, right and wrong answers, hints,
steps, leaving, empty lines, junk, bytes that are no text, very long lines, and an end anywhere. Some streams hold right
answers only, and the summary must then say so. How an input is judged stands in harness.py.
"""

from __future__ import annotations

import random
import re
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import seeds
from harness import Case, main, shown_bytes

if TYPE_CHECKING:
    from lnorm_cli.quiz.bank import Bank
    from lnorm_cli.quiz.questions import Question

JUNK = [
    b"", b" ", b"?", b"help", b"hint", b"steps", b"Q ", b"exit", b"h h", b"1..2", b"1,,2", b"(", b")", b"[1", b"]",
    b"-", b"--", b"1/0", b"0/0", b"sqrt(-1)", b"nan", b"inf", b"1e400", b"1e99999", b"9^9^9^9", b"x^x^x^x",
    b"(mu+var)^50", b"gamma*(x-mu)/sqrt(var+eps)+beta", b"sqrt(sqrt(sqrt(x)))+1/(x-x)", b"abs(x)^(1/3)", b"z", b"dcba",
    b"a b c d e f", b"a", b"b", b"zz", b"1", b"2", b"3", b"4", b"1 2 3 4", b"0,5", b"0;5", b"[[1,2],[3,4]]",
    b"1/3 1/3 1/3 1/3", b"0",
    b"\x00", b"\x1b[31mred\x1b[0m", b"\x07\x08", b"\x03", b"\x04", b"\x1a", b"\xff\xfe\xfd", b"\xc3\x28",
    b"\xed\xa0\x80", b"\xe2\x88\x921", b"\xe2\x80\xae1", b"\xd9\xa3", b"\xc2\xbd", b"\xf0\x9f\x98\x80", b"[/]",
    b"[red]x", b"%s%n",
    b"{0}", b"__import__('os')", b"\r", b"\t1\t", b"1\r", b"\x0c", b"\xe2\x80\xa8", b"1" * 5000, b"x" * 3000,
    b"(" * 2000, b"1 " * 3000, b"1+" * 400 + b"1", b"a" * 100_000, b"\xff" * 50_000, b"sqrt(" * 60 + b"2" + b")" * 60,
]  # fmt: skip
TOPICS = ["axes", "epsilon", "Layer-Norm", "rms_norm", "warmup", "backward", "block", "prenorm"]
BAD_OPTIONS = [
    ["--count", "0"], ["--count", "-1"], ["--count", "1001"], ["--count", "x"], ["--seed", "-1"], ["--seed", "x"],
    ["--topic", "nothing"], ["--topic", ""], ["--topc", "axes"], ["--pack", "missing.toml"], ["--count"], ["grad"],
]  # fmt: skip
_KEPT: dict[str, bytes] = {}


@cache
def bank() -> Bank:
    from lnorm_cli.quiz.bank import Bank

    return Bank()


def drawn(draw: random.Random) -> Case:
    """One stream, and the options that it answers to."""
    seed, count = draw.randrange(10**6), draw.choice((1, 1, 2, 2, 3, 4, 6, 12))
    topics = draw.sample(TOPICS, draw.choice((0, 0, 1, 2)))
    new, save, known = draw.random() < 0.2, draw.random() < 0.7, draw.random() < 0.3
    shutil.rmtree("data", ignore_errors=True)
    if known:
        Path("data").mkdir()
        Path("data/progress.db").write_bytes(_KEPT["known"])
    arguments = ["quiz", "--seed", str(seed), "--count", str(count), *(f"--topic={name}" for name in topics)]
    for wanted, name in ((new, "--new"), (not save, "--no-save"), (draw.random() < 0.1, "--ascii")):
        arguments += [name] if wanted else []
    questions = list(asked(seed, count, topics, new))
    if draw.random() < 0.05:
        lines = [line for question in questions for line in right(question)]
        summary = f"{len(questions)} answered: {len(questions)} right at once." if questions else "nothing new"
        return Case(arguments, (0,), b"".join(line + b"\n" for line in lines), "right", says=summary)
    lines = [line for question in questions for line in typed(draw, question)]
    stream = b"".join(line + draw.choice((b"\n", b"\n", b"\n", b"\r\n")) for line in lines)
    if draw.random() < 0.25:
        stream = stream[: draw.randint(0, len(stream))]
    codes: tuple[int, ...] = (0,)
    if draw.random() < 0.05:
        arguments += draw.choice(BAD_OPTIONS)
        codes = (2,)
    return Case(arguments, codes, stream, "quiz", shown_bytes(stream))


def asked(seed: int, count: int, topics: list[str], new: bool) -> Iterator[Question]:
    """The questions of a session, planned as the command plans it."""
    from lnorm_cli.progress import Store
    from lnorm_cli.quiz.dice import Dice
    from lnorm_cli.quiz.session import plan

    store, now = Store(Path("data/progress.db")), datetime.now(UTC)
    chosen = [bank().topic(name) for name in topics]
    planned = plan(bank(), store.scheduled(now), now, Dice("session", seed), count=count, topics=chosen, only_new=new)
    for entry in planned.asked:
        yield entry.question()


def right(question: Question) -> list[bytes]:
    """The lines that answer a question rightly."""
    from lnorm_cli.quiz.questions import Choice, Formula, Numbers, Order, letter
    from lnorm_cli.reading import exact_text

    answer = question.answer
    if isinstance(answer, Numbers):
        return [" ".join(exact_text(value) for value in answer.values).encode()]
    if isinstance(answer, Formula):
        return [answer.text.encode()]
    if isinstance(answer, Choice):
        return [letter(answer.right).encode()]
    if isinstance(answer, Order):
        return ["".join(letter(place) for place in answer.right).encode()]
    return [b"in my own words", b"3"]


def wrong(draw: random.Random, question: Question) -> bytes:
    """A wrong answer: a known one, the right one with a number or letter changed, or that of something else."""
    from lnorm_cli.quiz.questions import Formula, Numbers
    from lnorm_cli.reading import exact_text

    answer = question.answer
    if isinstance(answer, (Numbers, Formula)) and answer.wrong and draw.random() < 0.5:
        if isinstance(answer, Formula):
            return draw.choice(answer.wrong).text.encode()
        return " ".join(map(exact_text, draw.choice(answer.wrong).value)).encode()
    text = right(question)[0]
    places = [match.start() for match in re.finditer(rb"[0-9a-d]", text)]
    if not places or draw.random() < 0.2:
        return draw.choice((b"7", b"1 2 3 4", b"x", b"a", b"abcd"))
    place = draw.choice(places)
    return text[:place] + draw.choice((b"1", b"2", b"7", b"a", b"b", b"-3")) + text[place + 1 :]


def typed(draw: random.Random, question: Question) -> list[bytes]:
    """What a learner types at one question."""
    lines: list[bytes] = []
    while draw.random() < 0.3:
        lines.append(draw.choice(JUNK) if draw.random() < 0.7 else draw.randbytes(draw.randint(1, 30)))
    lines += [b"h"] * draw.choice((0, 0, 0, 1, 3))
    way = draw.random()
    if way < 0.55:
        return [*lines, *right(question)]
    if way < 0.9:
        return [*lines, wrong(draw, question), *(right(question) if draw.random() < 0.5 else [wrong(draw, question)])]
    return [*lines, b"s"] if way < 0.97 else [*lines, b"q"]


def prepare(folder: Path) -> None:
    """The progress file of a learner who has answered before."""
    (folder / "data").mkdir()
    _KEPT["known"], _ = seeds.progress(folder / "data")


if __name__ == "__main__":
    sys.exit(main(__doc__, "streams", 50_000, drawn, prepare, seconds=10.0))
