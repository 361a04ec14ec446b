"""Arrays from files and standard input: every format, every way in which a file can be wrong."""

from __future__ import annotations

import io
import json
import pickle
import sys
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import ml_dtypes
import numpy as np
import pytest
from conftest import invoke, run

from lnorm_cli.errors import InputError
from lnorm_cli.reading import read_arrays

F = Fraction

TEXTS: list[tuple[str, str, bytes, list[Any]]] = [
    ("bom and crlf", "x.csv", b"\xef\xbb\xbf1,2,3\r\n", [1, 2, 3]),
    ("rows", "x.csv", b"1,2\n3,4\n", [[1, 2], [3, 4]]),
    ("no final newline", "x.csv", b"1,2\n3,4", [[1, 2], [3, 4]]),
    ("old mac newlines", "x.csv", b"1,2\r3,4\r", [[1, 2], [3, 4]]),
    ("blank lines and comments", "x.csv", b"# made by hand\n\n1,2\n  \n3,4\n\n", [[1, 2], [3, 4]]),
    ("spaces", "x.txt", b"2 4   4 6\n", [2, 4, 4, 6]),
    ("a column", "x.txt", b"1\n2\n3\n", [[1], [2], [3]]),
    ("tabs", "x.tsv", b"1\t2\n3\t4\n", [[1, 2], [3, 4]]),
    ("semicolons", "x.csv", b"1;2\n3;4\n", [[1, 2], [3, 4]]),
    ("spaces after commas", "x.csv", b"1, 2 , 3\n", [1, 2, 3]),
    ("quoted cells", "x.csv", b'"1","2"\n"3","-4"\n', [[1, 2], [3, -4]]),
    ("heading", "x.csv", b"width,height\n1,2\n3,4\n", [[1, 2], [3, 4]]),
    ("heading with an empty cell", "x.csv", b",width\n1,2\n3,4\n", [[1, 2], [3, 4]]),
    ("exact cells", "x.csv", "1/3,0.1,1e-5,√2²,−2\n".encode(), [F(1, 3), F(1, 10), F(1, 100_000), 2, -2]),
    ("utf-16", "x.csv", "1,2,3\n".encode("utf-16"), [1, 2, 3]),
    ("utf-16 big-endian", "x.txt", b"\xfe\xff" + "1 2".encode("utf-16-be"), [1, 2]),
    ("json array", "x.json", b"[2, 4, 4, 6]", [2, 4, 4, 6]),
    ("json rank 3", "x.json", b"[[[1], [2]], [[3], [4]]]", [[[1], [2]], [[3], [4]]]),
    ("json one row", "x.json", b"[[1, 2]]", [[1, 2]]),
    ("json exact", "x.json", b'[0.1, 1e-5, "1/3", "-2", "1e400"]', [F(1, 10), F(1, 10**5), F(1, 3), -2, F(10) ** 400]),
    ("json number", "x.json", b"7", [7]),
    ("json by its first sign", "noext", b" [1, 2]", [1, 2]),
    ("table by its first sign", "noext", b"1 2\n", [1, 2]),
    ("json object", "x.json", b'{"x": [1, 2]}', [1, 2]),
    ("json bom", "x.json", b"\xef\xbb\xbf[1, 2]", [1, 2]),
    ("the largest float", "x.json", f"[{int(sys.float_info.max)}]".encode(), [int(sys.float_info.max)]),
    ("digits beyond a float", "x.json", b"[0.12345678901234567890123]", [F(12345678901234567890123, 10**23)]),
]


@pytest.mark.parametrize(("name", "data", "values"), [t[1:] for t in TEXTS], ids=[t[0] for t in TEXTS])
def test_text(tmp_path: Path, name: str, data: bytes, values: list[Any]) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert read_arrays(str(path)).x.tolist() == values
    with mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(data))):
        assert read_arrays("-").x.tolist() == values


def test_a_heading_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    assert read_arrays(str(tmp_path / "x.csv")).x.tolist() == [1, 2]
    assert "line 1 is taken for a heading" in capsys.readouterr().err


def test_all_fields_of_an_object_and_of_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"x": [1, 2], "gamma": ["1/2", 2], "beta": 0.1, "eps": 1e-6}')
    found = read_arrays(str(path))
    assert found.gamma is not None
    assert found.beta is not None
    assert (found.gamma.tolist(), found.beta.tolist(), found.eps) == ([F(1, 2), 2], F(1, 10), F(1, 10**6))
    np.savez(tmp_path / "x.npz", x=[1.5, 2.5], gamma=[2], beta=[[0.25, 0.5]], eps=np.float32(0.1))
    found = read_arrays(str(tmp_path / "x.npz"))
    assert found.gamma is not None
    assert found.beta is not None
    assert (found.x.tolist(), found.gamma.tolist(), found.beta.tolist()) == ([1.5, 2.5], [2], [[0.25, 0.5]])
    assert found.eps == F(float(np.float32(0.1)))  # the binary number that the file holds


BAD_TEXTS = [
    ("x.csv", b"", "is empty"), ("x.csv", b"\xef\xbb\xbf \n", "is empty"), ("x.csv", b"# nothing\n", "only comments"),
    ("x.csv", b"1,2,3\n4,5\n", "ragged: row 2 (line 2) has 2 values, row 1 has 3"),
    ("x.csv", b"a,b\n1,2\n\n3\n", "row 2 (line 4) has 1 values"),
    ("x.csv", b"1,2\n3,4\n5\n", "ragged: row 3 (line 3) has 1 values, row 1 has 2"),
    ("x.csv", b"nan,inf\n1,2\n", "line 1, column 1: nan"), ("x.csv", b"~a,b\n1,2\n", "line 1, column 1: unexpected"),
    ("x.csv", b"1;x\n", "line 1, column 2: unknown name 'x'"),
    ("x.csv", b"1,,3\n", "line 1, column 2: the cell is empty"),
    ("x.csv", b"1,2\n3,\n", "line 2, column 2: the cell is empty"),
    ("x.csv", b"1,x\n", "line 1, column 2: unknown name"),
    ("x.csv", b"0,5;1,5\n", "line 1, column 1: '0,5' has a decimal comma"),
    ("x.csv", b"1,nan\n", "line 1, column 2: nan"), ("x.csv", b"1,2\ninf,4\n", "line 2, column 1: inf"),
    ("x.csv", b"1,2\na,b\n", "line 2, column 1: unknown name 'a'"), ("x.csv", b"1,2\n\xff,4\n", "byte 5 is not UTF-8"),
    ("x.txt", b"1 2\x00 3\n", "NUL"), ("x.csv", b"id,a\n1,b\n", "column 2"), ("x.json", b"[1, 2", "is not JSON"),
    ("x.json", b"[1 2]", "line 1, column 4"), ("x.json", b"[1,]", "is not JSON"),
    ("x.json", b"{'x': 1}", "is not JSON"), ("x.json", b"[1] [2]", "is not JSON"), ("x.json", b"[]", "x is empty"),
    ("x.json", b"[[1, 2, 3], [4, 5]]", "ragged: row 2 has 2 values, row 1 has 3"),
    ("x.json", b"[[], []]", "x[0] is empty"), ("x.json", b"[[1], 2]", "mixes"),
    ("x.json", b'{"x": [1, NaN, 3]}', "x[1]: NaN is not a finite"), ("x.json", b"[1, Infinity]", "x[1]: Infinity"),
    ("x.json", b"[[1], [-Infinity]]", "x[1][0]: Infinity"), ("x.json", b"[1, 1e999]", "x[1] is 1e999, beyond float64"),
    ("x.json", b"[1, true]", "x[1] is true"), ("x.json", b"[null]", "x[0] is null"),
    ("x.json", b'[{"a": 1}]', "x[0] is an object"), ("x.json", b'["two"]', "x[0]"),
    ("x.json", b'{"x": [1], "x": [2]}', "field 'x' stands twice"),
    ("x.json", b'{"x": [1], "gama": 2}', "unknown field 'gama'"), ("x.json", b'{"gamma": 2}', "no field x"),
    ("x.json", b'{"x": [1], "eps": [1, 2]}', "eps must be one number"), ("x.json", b"[" * 100_000, "JSON|deep"),
    ("x.json", b"[" * 9 + b"1" + b"]" * 9, "9 axes"), ("x.json", b'"1e99999"', "digits"),
    ("x.json", b"1e99999", "digits"), ("x.npy", b"1 2 3", "not a readable .npy"),
    ("x.npz", b"1 2 3", "not a readable .npz"), ("x.npy", b"", "not a readable .npy"),
    ("x.npy", b"\x93NUMPY", "not a readable .npy"),
    ("x.npy", b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (9,)}\n", "not a readable"),
    ("x.npz", b"PK\x03\x04 cut", "not a readable .npz"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "data", "words"), BAD_TEXTS, ids=[f"{n} {d[:20]!r}" for n, d, _ in BAD_TEXTS])
def test_refused_naming_file_and_place(tmp_path: Path, name: str, data: bytes, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_arrays(str(path))
    assert caught.value.what.startswith(f"{path}: ")
    assert any(word in caught.value.what for word in words.split("|"))
    assert caught.value.hint


@pytest.mark.parametrize("name", ["missing.csv", "missing.npy", ".", "a\x00b", "a" * 300])
def test_a_file_that_cannot_be_opened(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be read") as caught:
        read_arrays(f"{tmp_path}/{name}")
    assert "name" in caught.value.hint


GRID = np.arange(6.0).reshape(2, 3)
ARRAYS: list[tuple[str, Any, Any]] = [
    ("float64", GRID, GRID), ("float32", GRID.astype(np.float32), GRID), ("float16", GRID.astype(np.float16), GRID),
    ("big-endian", GRID.astype(">f8"), GRID), ("big-endian integers", GRID.astype(">i4"), GRID),
    ("Fortran order", np.asfortranarray(GRID), GRID), ("a transposed view", GRID.T, GRID.T),
    ("int8", GRID.astype(np.int8), GRID), ("uint64", np.array([2**64 - 1], np.uint64), np.array([2**64 - 1], object)),
    ("a 0-d array", np.float64(7), np.array([7.0])), ("longdouble", GRID.astype(np.longdouble), GRID),
    ("bfloat16", GRID.astype(ml_dtypes.bfloat16), GRID),
    ("rank 8", np.ones((1,) * 7 + (2,)), np.ones((1,) * 7 + (2,))),
]  # fmt: skip


@pytest.mark.parametrize(("saved", "values"), [a[1:] for a in ARRAYS], ids=[a[0] for a in ARRAYS])
@pytest.mark.parametrize("way", ["npy", "npz", "stdin", "other name"])
def test_numpy_files(tmp_path: Path, saved: Any, values: Any, way: str) -> None:
    path = tmp_path / ("x.npz" if way == "npz" else "x.npy")
    np.savez(path, x=saved) if way == "npz" else np.save(path, saved)
    data = path.read_bytes()
    if way == "other name":
        path = path.rename(tmp_path / "x.data")
    with mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(data))):
        x = read_arrays("-" if way == "stdin" else str(path)).x
    assert x.shape == values.shape
    assert [F(float(v)) if v % 1 else int(v) for v in x.flat] == [int(v) for v in values.flat]


def test_an_archive_of_one_array_needs_no_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", GRID)
    assert read_arrays(str(tmp_path / "a.npz")).x.tolist() == GRID.tolist()
    np.savez(tmp_path / "b.npz", weights=GRID, bias=GRID)
    with pytest.raises(InputError, match="holds weights, bias, no array x"):
        read_arrays(str(tmp_path / "b.npz"))


def test_an_archive_named_npy_is_still_read(tmp_path: Path) -> None:
    with (tmp_path / "a.npy").open("wb") as file:
        np.savez(file, x=GRID)
    assert read_arrays(str(tmp_path / "a.npy")).x.tolist() == GRID.tolist()


BAD_ARRAYS: list[tuple[str, Any, str]] = [
    ("bool", np.array([True]), "x has dtype bool"), ("complex", np.array([1j]), "x has dtype complex128"),
    ("text", np.array(["1"]), "x has dtype <U1"), ("bytes", np.array([b"1"]), "x has dtype |S1"),
    ("dates", np.array(["2020-01-01"], "M8[D]"), "x has dtype datetime64"),
    ("fields", np.zeros(2, [("a", "f8")]), "x has dtype [('a'"), ("void", np.zeros(2, "V4"), "x has dtype |V4"),
    ("empty", np.zeros((3, 0)), "x is empty (shape (3, 0))"), ("rank 9", np.ones((1,) * 9), "x has 9 axes"),
    ("nan", np.array([[1.0, 2.0], [3.0, np.nan]]), "x[1][1] is nan"),
    ("inf", np.array([1.0, -np.inf]), "x[1] is -inf"), ("0-d nan", np.float32(np.nan), "x[0] is nan"),
    ("bfloat16 nan", np.array([1, np.nan], ml_dtypes.bfloat16), "x[1] is nan"),
]  # fmt: skip


@pytest.mark.parametrize(("saved", "words"), [a[1:] for a in BAD_ARRAYS], ids=[a[0] for a in BAD_ARRAYS])
def test_numpy_files_refused(tmp_path: Path, saved: Any, words: str) -> None:
    np.save(tmp_path / "x.npy", saved)
    np.savez(tmp_path / "x.npz", x=saved)
    for name in ("x.npy", "x.npz"):
        with pytest.raises(InputError) as caught:
            read_arrays(str(tmp_path / name))
        assert caught.value.what.startswith(f"{tmp_path / name}: {words}")
        assert "file name" not in caught.value.hint


PROMISED = {
    "a million million": ("<f8", "(1000000000000,)", 1, "is cut short: shape (1000000000000,) of float64"),
    "more than 64 bits": ("<f8", "(4294967296, 4294967296)", 2, "is cut short"),
    "one too many": ("<f8", "(5,)", 1, "is cut short: shape (5,) of float64 is 40 bytes, and 32 follow"),
    "less than nothing": ("<f8", "(-9223372036854775808, 3)", 1, "is not a readable .npy file"),
    "elements of no size": ("|V0", "(10,)", 1, "is not a readable .npy file"),
    "texts of no size": ("|S0", "(3,)", 2, "is not a readable .npy file"),
    "version of field names": ("|V0", "(10,)", 3, "is not a readable .npy file"),
}


@pytest.mark.parametrize(("descr", "shape", "version", "words"), PROMISED.values(), ids=PROMISED)
def test_what_a_header_promises_is_not_believed(
    tmp_path: Path, descr: str, shape: str, version: int, words: str
) -> None:
    """In a process of its own: numpy dies on elements of no size, and warns of its own source."""
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}\n".encode()
    width = 2 if version == 1 else 4
    data = b"\x93NUMPY" + bytes([version, 0]) + len(head).to_bytes(width, "little") + head + bytes(32)
    (tmp_path / "x.npy").write_bytes(data)
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("x.npy", data)
    for done in (run("compute", "-i", str(tmp_path / "x.npy")), run("compute", "-", stdin=data)):
        assert (done.code, done.out) == (2, "")
        assert words in done.err
        assert "Warning" not in done.err
    done = run("compute", "-i", str(tmp_path / "x.npz"))
    assert (done.code, done.out) == (2, "")
    assert "Warning" not in done.err


@pytest.mark.parametrize("bits", [0xFFA0, 0x7F81, 0x7FC0])
def test_every_kind_of_nan_is_refused_without_a_warning(tmp_path: Path, bits: int) -> None:
    np.save(tmp_path / "x.npy", np.array([0x3F80, bits], np.uint16).view(ml_dtypes.bfloat16))
    done = run("compute", "-i", str(tmp_path / "x.npy"))
    assert (done.code, done.out) == (2, "")
    assert "x[1] is nan" in done.err
    assert "Warning" not in done.err


def test_nan_far_into_a_large_array_is_found_by_place(tmp_path: Path) -> None:
    x = np.zeros((3000, 2000), np.float32)
    x[2999, 1998] = np.inf
    np.save(tmp_path / "x.npy", x)
    with pytest.raises(InputError, match=r"x\[2999\]\[1998\] is inf"):
        read_arrays(str(tmp_path / "x.npy"))


class Canary:
    """Unpickled, it writes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self.path,))


def test_pickles_are_refused_and_do_not_run(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    evil = np.array([Canary(canary)], dtype=object)
    np.save(tmp_path / "evil.npy", evil, allow_pickle=True)
    np.savez(tmp_path / "evil.npz", x=evil)
    (tmp_path / "pickle.npy").write_bytes(pickle.dumps(Canary(canary)))
    (tmp_path / "pickle.npz").write_bytes(pickle.dumps(Canary(canary)))
    with zipfile.ZipFile(tmp_path / "zip.npz", "w") as archive:
        archive.writestr("x", pickle.dumps(Canary(canary)))
    for name in ("evil.npy", "evil.npz", "pickle.npy", "pickle.npz", "zip.npz"):
        done = invoke("compute", "-i", str(tmp_path / name))
        assert (done.code, done.out) == (2, "")
        assert ("object arrays and pickles are not read" if name.startswith("evil") else "not a readable") in done.err
        data = (tmp_path / name).read_bytes()
        assert invoke("compute", "-", stdin=data).code == 2
    assert not canary.exists()
    pickle.loads(pickle.dumps(Canary(canary)))
    assert canary.exists()  # so the canary does sing


@pytest.mark.parametrize("eps", ["-1", '"-1e-400"', '"nan"', "NaN", "null", "true", "[1e-5]", '"x"'])
def test_epsilon_in_a_file_obeys_the_same_rules(tmp_path: Path, eps: str) -> None:
    (tmp_path / "x.json").write_text(f'{{"x": [1, 2], "eps": {eps}}}')
    done = invoke("compute", "-i", str(tmp_path / "x.json"))
    assert (done.code, done.out) == (2, "")
    assert "eps" in done.err
    assert "internal" not in done.err


def test_nan_is_kept_where_it_is_allowed(tmp_path: Path) -> None:
    """`diagnose` reads answers that may hold nan."""
    (tmp_path / "y.json").write_text('[1, NaN, "-inf", -Infinity]')
    (tmp_path / "y.csv").write_text("1,nan,-inf,-Infinity\n")
    np.save(tmp_path / "y.npy", [1, np.nan, -np.inf, -np.inf])
    for name in ("y.json", "y.csv", "y.npy"):
        values = [float(v) for v in read_arrays(str(tmp_path / name), finite=False).x]
        assert json.dumps(values) == "[1.0, NaN, -Infinity, -Infinity]"
