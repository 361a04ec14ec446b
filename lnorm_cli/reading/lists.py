"""Vectors and nested lists as a user types them: `2 4 4 6`, `2,4,4,6`, `[2, 4, 4, 6]`, `[[1, 2], [3, 4]]`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lnorm_cli.errors import InputError
from lnorm_cli.reading.grammar import parse_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_RANK = 8
"""Most axes that an array may have."""


def parse_vector(text: str, element: Callable[[str], Any] = parse_number) -> NDArray[Any]:
    """An object array of exact values from a list separated by commas or spaces, nested with brackets.

    `element` reads one entry; InputError points at the character that cannot be read.
    """
    return to_array(_parse_list(text, 0, len(text), text, element), "the list")


def join_arguments(arguments: Sequence[str]) -> str:
    """The text of one vector from several arguments of a command line.

    `0,5 1,5` is refused: a decimal comma and two lists look alike.
    """
    text = " ".join(arguments)
    if len(arguments) > 1 and not text.lstrip().startswith(("[", "(")):
        for argument in arguments:
            inner = argument.strip(",")
            if "," in inner and not set(inner) & set("[]()"):
                raise InputError(
                    f"{argument!r} among several arguments: a decimal comma, or a list of its own?",
                    hint=f"a decimal point makes it a number ({inner.replace(',', '.', 1)}); "
                    "a vector is 1 2 3 or 1,2,3",
                )
    return text


def to_array(nested: Any, name: str) -> NDArray[Any]:
    """An object array from nested lists; rows of unequal length and empty lists are refused by place."""
    import numpy as np

    shape = _shape(nested, name)
    if len(shape) > MAX_RANK:
        raise InputError(f"{name} has {len(shape)} axes", hint=f"lnorm takes up to {MAX_RANK}")
    array = np.empty(shape, dtype=object)
    array[...] = np.array(nested, dtype=object) if shape else nested
    return array


def _shape(nested: Any, name: str) -> tuple[int, ...]:
    if not isinstance(nested, list):
        return ()
    if not nested:
        raise InputError(f"{name} is empty", hint="give at least one number")
    shapes = [_shape(item, f"{name}[{i}]") for i, item in enumerate(nested)]
    for i, shape in enumerate(shapes[1:], start=2):
        if shape == shapes[0]:
            continue
        if len(shape) != len(shapes[0]):
            raise InputError(f"{name} mixes numbers and lists", hint="every entry needs the same nesting")
        own, first = (f"{s[0]} values" if len(s) == 1 else f"shape {s}" for s in (shape, shapes[0]))
        raise InputError(f"{name} is ragged: row {i} has {own}, row 1 has {first}", hint="rows must have equal length")
    return (len(nested), *shapes[0])


def _parse_list(
    text: str, start: int, end: int, whole: str, element: Callable[[str], Any], depth: int = 0, opened: bool = False
) -> list[Any]:
    """The entries of text[start:end]; brackets around the whole of it are dropped once, then it is `opened`."""
    if depth > MAX_RANK:
        raise InputError(f"nested more than {MAX_RANK} deep", text=whole, position=start)
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if not opened and start < end and _closing(text, start, end) == end - 1 and _is_list(text, start, end):
        return _parse_list(text, start + 1, end - 1, whole, element, depth, opened=True)
    entries: list[Any] = []
    for first, last in _split(text, start, end):
        if text[first] == "[":
            entries.append(_parse_list(text, first, last, whole, element, depth + 1))
            continue
        try:
            entries.append(element(text[first:last]))
        except InputError as error:
            place = first + (error.position or 0)
            hint = error.hint
            if text[first:last] in ("+", "-", "*", "/", "^", "**", "\u2212"):
                hint = "write an expression without spaces, as 1+2: spaces separate numbers"
            raise InputError(error.what, hint=hint, text=whole, position=place) from None
    return entries


def _is_list(text: str, start: int, end: int) -> bool:
    """Whether brackets around the whole are those of a list: always for [ ], for ( ) when commas stand inside."""
    return text[start] == "[" or "," in text[start:end] or " " in text[start:end].strip()


def _closing(text: str, start: int, end: int) -> int:
    """The index of the bracket that closes the one at start, or -1."""
    depth = 0
    for i in range(start, end):
        if text[i] in "[(":
            depth += 1
        elif text[i] in "])":
            depth -= 1
            if depth == 0:
                return i
        if depth == 0:
            break
    return -1


def _split(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Spans of the entries, separated by commas or white space outside brackets."""
    spans: list[tuple[int, int]] = []
    depth, first, comma = 0, None, True
    for i in range(start, end):
        character = text[i]
        if character == ";":
            raise InputError(
                "a semicolon does not separate numbers here",
                hint="use a decimal point, and commas or spaces between numbers; rows go in brackets: [[1, 2], [3, 4]]",
                text=text,
                position=i,
            )
        if depth == 0 and (character == "," or character.isspace()):
            if first is not None:
                spans.append((first, i))
                first, comma = None, False
            if character == ",":
                if comma:
                    raise _empty(text, i)
                comma = True
            continue
        if first is None:
            first = i
        elif character == "[" and depth == 0:
            spans.append((first, i))
            first = i
        depth += (character in "[(") - (character in "])")
        if depth < 0:
            raise InputError("this bracket was never opened", text=text, position=i)
    if depth > 0:
        raise InputError("a bracket is not closed", text=text, position=first or start)
    if first is not None:
        spans.append((first, end))
    elif comma:
        raise _empty(text, end)
    return spans


def _empty(text: str, position: int) -> InputError:
    what = "a number is missing here" if text.strip() else "there is no number here"
    return InputError(what, hint="give numbers such as 2 4 4 6", text=text, position=position)
