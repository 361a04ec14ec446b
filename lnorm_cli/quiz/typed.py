"""What was typed, as values: one number, a list, a letter, letters in order. InputError says where it is none."""

from __future__ import annotations

import re
import unicodedata

from lnorm_cli import exact
from lnorm_cli.errors import InputError
from lnorm_cli.quiz.questions import letter
from lnorm_cli.reading import parse_number, parse_vector


def right_side(text: str) -> str:
    """The text without the name of what it is (`y = ...`, `sigma^2 = ...`); what stays keeps its place."""
    named = re.match(r"\s*[^\W\d_][\w^²̂]{0,19}\s*=(?!=)", text)
    return " " * named.end() + text[named.end() :] if named else text


def read_single(text: str) -> exact.Exact:
    """One number; a list is malformed."""
    text = right_side(text)
    if several := re.search(r"[\[\],;]|(?<=[0-9.)])\s+(?=[0-9.])", text):
        place = several.end() - (1 if several.group().strip() else 0)
        hint = "a decimal has a point: 0.5" if several.group() == "," else ""
        raise InputError("one number is wanted, not a list", hint=hint, text=text, position=place)
    return parse_number(text)


def read_list(text: str, count: int) -> tuple[list[exact.Exact], list[str]]:
    """The values of a list and the text of each; a list of another shape is malformed."""
    texts: list[str] = []

    def element(part: str) -> exact.Exact:
        value = parse_number(part)
        texts.append(part)
        return value

    text = right_side(text)
    array = parse_vector(text, element)
    if array.ndim > 1 and array.shape != (1, count):
        raise InputError(f"{count} numbers are wanted, not a table of shape {array.shape}", text=text, position=0)
    if array.size != count:
        raise InputError(
            f"{count} numbers are wanted, here {'is' if array.size == 1 else 'are'} {array.size}",
            hint="write them with spaces or commas between",
            text=text,
            position=len(text.rstrip()),
        )
    return list(array.reshape(-1)), texts


def read_letter(word: str, count: int, text: str) -> int:
    """The place that a letter stands for: in either case, with a bracket or a dot."""
    cleaned = unicodedata.normalize("NFKC", word).strip("().:").lower()
    letters = [letter(i) for i in range(count)]
    if cleaned in letters:
        return letters.index(cleaned)
    raise InputError(
        f"{word!r} is none of the letters",
        hint=f"one letter from a to {letters[-1]}",
        text=text,
        position=text.find(word),
    )


def read_order(text: str, count: int) -> tuple[int, ...]:
    """The places that letters in order stand for, each once."""
    words = [w for w in re.split(r"[\s,;:.()>\u2013\u2192-]+", text) if w]
    if len(words) == 1:
        words = list(words[0])
    places = tuple(read_letter(word, count, text) for word in words)
    if sorted(places) != list(range(count)):
        raise InputError(
            f"each of the {count} letters is wanted once",
            hint="such as " + "".join(letter(i) for i in reversed(range(count))),
            text=text,
            position=0,
        )
    return places
