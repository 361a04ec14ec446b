"""Damage to files, byte by byte: bits turned, parts put in, taken out or doubled, two files joined, odd numbers."""

from __future__ import annotations

import io
import random
import re
import warnings
import zipfile
from collections.abc import Callable, Sequence

TOKENS = [
    b"nan", b"-inf", b"Infinity", b"null", b"true", b"\"", b"'", b"[", b"]", b"[[", b"{", b"}", b"{}", b"(", b")", b",",
    b";", b":", b"\t", b"\n", b"\r\n", b"\r", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xe2\x88\x92", b"\xc3\xa9",
    b"\xff", b"\x1b[31m", b"# ", b"\\", b"\\u0000", b"\\ud800", b"=", b"[[item]]", b"sqrt(2)", b"1/3", b"1/0",
    b"9^9^9^9", b"[/]", b"%s", b"a" * 300, b"[" * 200, b"(" * 200, b"\xe2\x80\xa8", b"\x85", b"\x0c", b"\xd9\xa3",
]  # fmt: skip
NUMBERS = [
    b"0", b"-0", b"-1", b"1e400", b"-1e-400", b"1e99999", b"1e308", b"5e-324", b"1000000000000", b"00",
    b"18446744073709551616", b"9223372036854775807", b"-9223372036854775808", b".5", b"5.", b"1_000", b"0x10", b"1/3",
    b"nan", b"0.1", b"1.7976931348623157e308", b"--1", b"65504", b"1" * 400, b"0." + b"3" * 400, b"2147483648",
    b"1e", b"33", b"9",
]  # fmt: skip
_NUMBER = re.compile(rb"[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")


def mutated(draw: random.Random, data: bytes, others: Sequence[bytes] = ()) -> bytes:
    """The bytes with one to four kinds of damage; `others` are what parts may come from."""
    for _ in range(draw.choice((1, 1, 2, 3, 4))):
        data = draw.choice(_WAYS)(draw, data, others)
    return data


def _bit(draw: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    if not data:
        return b"\x01"
    place = draw.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << draw.randrange(8)]) + data[place + 1 :]


def _byte(draw: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    place = draw.randint(0, len(data))
    return data[:place] + bytes([draw.choice((0, 255, 127, 128, 10, 32, draw.randrange(256)))]) + data[place + 1 :]


def _put_in(draw: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    place = draw.randint(0, len(data))
    return data[:place] + (draw.choice(TOKENS) if draw.random() < 0.7 else draw.randbytes(8)) + data[place:]


def _slice(draw: random.Random, data: bytes, longest: int = 40) -> tuple[int, int]:
    start = draw.randint(0, len(data))
    return start, min(len(data), start + draw.randint(1, longest))


def _take_out(draw: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    start, end = _slice(draw, data)
    return data[:start] + data[end:]


def _double(draw: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    start, end = _slice(draw, data, 200)
    return data[:end] + data[start:end] * draw.choice((1, 1, 2, 30)) + data[end:]


def _cut(draw: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    return data[: draw.randint(0, len(data))]


def _join(draw: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    other = draw.choice(others) if others else data
    return data[: draw.randint(0, len(data))] + other[draw.randint(0, len(other)) :]


def _number(draw: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    found = list(_NUMBER.finditer(data))
    if not found:
        return data
    start, end = draw.choice(found).span()
    return data[:start] + draw.choice(NUMBERS) + data[end:]


def _lines(draw: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    lines = data.splitlines(keepends=True)
    draw.shuffle(lines)
    return b"".join(lines)


_WAYS: list[Callable[[random.Random, bytes, Sequence[bytes]], bytes]] = [
    _bit, _bit, _byte, _put_in, _put_in, _take_out, _double, _cut, _join, _number, _number, _number, _lines,
]  # fmt: skip


DTYPES = [
    "'<f8'", "'>f8'", "'<f4'", "'>f4'", "'<f2'", "'|V2'", "'<i4'", "'>i8'", "'|u1'", "'|i1'", "'|b1'", "'<c16'", "'|O'",
    "'<M8[s]'", "'<m8'", "'|S5'", "'<U3'", "'<f16'", "'|V0'", "'<f3'", "''", "'|V4'", "[('a', '<f8')]", "[]", "None",
    "1", "'<f8', 'x': 1", "('<f8', (2,))", "'bfloat16'", "'=f8'", "'|S0'", "'<u8'",
]  # fmt: skip
SHAPES = [
    "(4,)", "(2, 3)", "()", "(0,)", "(2, 0)", "(10**12,)", "(1000000000000,)", "(100000000,)", "(9223372036854775807,)",
    "(18446744073709551616,)", "(4294967296, 4294967296)", "(-1,)", "(-4,)", "(1,) * 9", "(" + "1, " * 9 + ")",
    "(" + "1, " * 33 + ")", "(" + "1, " * 70 + ")", "(True, 4)", "(4.0,)", "4", "None", "('x',)", "(1, 4)", "(4, 1)",
    "(2, 2, 1)", "(0, 1000000000000)", "(1000000000000, 0)",
]  # fmt: skip


def npy(draw: random.Random, data: bytes) -> bytes:
    """A .npy file whose header is sound in form and says something odd about `data`."""
    order = draw.choice(("False", "False", "True", "None", "1"))
    head = f"{{'descr': {draw.choice(DTYPES)}, 'fortran_order': {order}, 'shape': {draw.choice(SHAPES)}, }}\n".encode()
    if draw.random() < 0.2:
        head = mutated(draw, head)
    version = draw.choice((1, 1, 1, 2, 3, 0, 9))
    width = 2 if version == 1 else 4
    return b"\x93NUMPY" + bytes([version, 0]) + len(head).to_bytes(width, "little") + head + data


def npz(draw: random.Random, members: dict[str, bytes], others: Sequence[bytes]) -> bytes:
    """A sound archive with damaged members, or other names."""
    file, kind = io.BytesIO(), draw.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", kind) as archive:
        warnings.simplefilter("ignore")  # that a name stands twice
        for name, data in members.items():
            if draw.random() < 0.5:
                data = mutated(draw, data, others) if draw.random() < 0.5 else npy(draw, data[128:])
            if draw.random() < 0.1:
                name = draw.choice(("x", "gamma.npy", "eps.npy", "../x.npy", "x.txt", "", "\u00e9.npy", "arr_0.npy"))
            archive.writestr(zipfile.ZipInfo(name), data)
    return file.getvalue()
