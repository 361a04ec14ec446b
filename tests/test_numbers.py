"""The one grammar of numbers and lists: what it takes, what it refuses, and where it points."""

from __future__ import annotations

import contextlib
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
from conftest import evaluate, near
from hypothesis import given
from hypothesis import strategies as st

from lnorm_cli import InputError, trace
from lnorm_cli.reading import exact_text, join_arguments, parse_number, parse_vector
from lnorm_cli.render.notation import ASCII, UNICODE

F = Fraction

RATIONAL = [
    ("2", F(2)), ("-7", F(-7)), ("+3", F(3)), ("007", F(7)), (" 5 ", F(5)), ("0", F(0)), ("-0", F(0)),
    ("0.1", F(1, 10)), (".5", F(1, 2)), ("5.", F(5)), ("-.5", F(-1, 2)), ("1e-5", F(1, 100_000)), ("1E3", F(1000)),
    ("2.5e+2", F(250)), ("0.3333333333333333333333", F(3333333333333333333333, 10**22)), ("1/3", F(1, 3)),
    ("-1/3", F(-1, 3)), ("1/-3", F(-1, 3)), ("1e3/4", F(250)), ("6/4", F(3, 2)), ("\u22122", F(-2)),
    ("1\u22122", F(-1)), ("\u20132", F(-2)), ("2×3", F(6)), ("6÷4", F(3, 2)), ("2·3", F(6)), ("1+2*3", F(7)),
    ("(1+2)*3", F(9)), ("3(1+2)", F(9)), ("(1+2)(3+4)", F(21)), ("8/2/2", F(2)), ("2-3-4", F(-5)), ("2^3", F(8)),
    ("2**3", F(8)), ("2^-1", F(1, 2)), ("-2^2", F(-4)), ("(-2)^2", F(4)), ("2^3^2", F(512)), ("2²", F(4)),
    ("2³", F(8)), ("--2", F(2)), ("-+-2", F(2)), ("2--3", F(5)), ("1/2/3", F(1, 6)), ("sqrt(4)", F(2)), ("√9", F(3)),
    ("sqrt(1/4)", F(1, 2)), ("4^(1/2)", F(2)), ("8^(1/3)", F(2)), ("4^0.5", F(2)), ("sqrt(2)^2", F(2)),
    ("sqrt(2)*sqrt(8)", F(4)), ("abs(-3)", F(3)), ("abs(1-sqrt(2))+1-sqrt(2)", F(0)),
    ("sqrt(3+2sqrt(2))-sqrt(2)", F(1)), ("1e400", F(10) ** 400), ("10^-400", F(1, 10**400)), ("0^0.5", F(0)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), RATIONAL, ids=[text for text, _ in RATIONAL])
def test_rational(text: str, value: Fraction) -> None:
    parsed = parse_number(text)
    assert parsed == value
    assert isinstance(parsed, Fraction)


IRRATIONAL = [
    ("sqrt(2)", "1.41421356237309504880168872420969807857"),
    ("√2", "1.41421356237309504880168872420969807857"),
    ("2sqrt(3)", "3.46410161513775458705489268301174473389"),
    ("-sqrt(2)", "-1.41421356237309504880168872420969807857"),
    ("(2/3)^(1/2)", "0.816496580927726032732428024901963797322"),
    ("2/sqrt(6)", "0.816496580927726032732428024901963797322"),
    ("(2/3)**0.5", "0.816496580927726032732428024901963797322"),
    ("pi", "3.1415926535897932384626433832795028842"),
    ("π/4", "0.785398163397448309615660845819875721049"),
    ("2pi", "6.28318530717958647692528676655900576839"),
    ("sqrt(2)+sqrt(3)", "3.14626436994197234232913506571557044551"),
    ("2^(1/3)", "1.25992104989487316476721060727822835057"),
    ("2^(1/12)", "1.05946309435929526456182529494634170077"),  # the highest root that is taken
    ("1/(1+sqrt(2))", "0.414213562373095048801688724209698078570"),
    ("√(1+√2)", "1.55377397403003730734415895306314694816"),
    ("√2√3", "2.44948974278317809819728407470589139197"),
]


@pytest.mark.parametrize(("text", "digits"), IRRATIONAL, ids=[text for text, _ in IRRATIONAL])
def test_irrational(text: str, digits: str) -> None:
    assert near(exact_text(parse_number(text)), digits, digits=36)


REFUSED = [
    ("", 0, "no number"), ("   ", 0, "no number"), ("abc", 0, "unknown name 'abc'"), ("1+", 2, "too early"),
    ("2**", 3, "too early"), ("(1", 0, "not closed"), ("1)", 1, "unexpected ')'"), ("2 3", 2, "unexpected '3'"),
    ("1..2", 2, "unexpected"), ("1e", 1, "unknown name 'e'"), ("0x10", 1, "unknown name"), ("1_000", 1, "unknown"),
    ("1,5", 1, "unexpected character ','"), ("1=1", 1, "'='"), ("2!", 1, "'!'"), ("5%", 1, "'%'"), ("$2", 0, "'$'"),
    ("nan", 0, "not a finite number"), ("-inf", 1, "not a finite"), ("Infinity", 0, "not a finite"),
    ("1+NaN", 2, "not a finite"), ("1/0", 1, "0 is undefined"), ("0^-1", 1, "undefined"), ("0^0", 1, "undefined"),
    ("1/(sqrt(8)-2sqrt(2))", 1, "undefined"), ("2+sqrt(-1)", 2, "no real root"), ("(-8)^(1/3)", 4, "no real root"),
    ("sqrt 2", 0, "needs brackets"), ("sqrt()", 5, "unexpected ')'"), ("2^pi", 1, "rational"),
    ("2^(1/13)", 1, "roots go up"), ("srt(2)", 0, "unknown name 'srt'"), ("I", 0, "unknown name 'I'"),
    ("E", 0, "unknown name 'E'"), ("gamma", 0, "unknown name 'gamma'"), ("1\x00", 1, "unexpected character"),
    ("٣", 0, "unexpected character"), ("½", 0, "unexpected"), ("１２", 0, "unexpected character"),
    ("__import__('os').getpid()", 11, "unexpected character"), ("x.__class__", 1, "unexpected character '.'"),
    ("().__class__.__bases__", 2, "unexpected character '.'"), ("[c for c in (1,2)]", 0, "unexpected character '['"),
    ("lambda: 1", 6, "unexpected character ':'"), ("exec('1')", 5, "unexpected character"),
    ("__import__(1)", 0, "unknown name '__import__'"), ("exec(1)", 0, "unknown name 'exec'"), ("2^10^10", 1, "digits"),
    ("10.0**10.0**10.0", 4, "digits"), ("9**9**9**9", 4, "digits"), ("2**(1/10**50)", 1, "roots go up"),
    ("4**(1/3)**-99", 1, "digits"), ("factorial(10**9)", 0, "unknown name"), ("(9^9999)^9999", 8, "digits"),
    ("1e20001", 0, "digits"), ("1e-99999", 0, "digits"), ("1e99999999999", 0, "digits"),
    ("1e19999*1e19999", 7, "digits"), ("(" * 60 + "1" + ")" * 60, 40, "deep"), ("^".join("2" * 99), 79, "deep"),
    ("1" * 20_001, 0, "digits"), ("1+" * 25_001, None, "longer than"), ("sqrt(" * 60 + "2" + ")" * 60, 200, "deep"),
    ("(1^1+" * 60 + "1" + ")" * 60, None, "deep"), ("(sqrt(2)+sqrt(3)+sqrt(5)+sqrt(7))^40", 33, "terms"),
    ("+".join(f"sqrt({k}^3+1)" for k in range(2, 99)), None, "terms"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "position", "words"), REFUSED, ids=[text[:24] for text, _, _ in REFUSED])
def test_refused_with_place_and_remedy(text: str, position: int | None, words: str) -> None:
    began = time.process_time()
    with pytest.raises(InputError) as caught:
        parse_number(text)
    assert time.process_time() - began < 2
    assert words in caught.value.what
    assert caught.value.hint
    if position is not None:
        assert caught.value.position == position


def test_nothing_is_evaluated(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    for text in (f"open({str(canary)!r},'w')", f"__import__('pathlib').Path({str(canary)!r}).touch()"):
        for read in (parse_number, parse_vector, lambda t: parse_number(t, names=("x", "open"))):
            with pytest.raises(InputError):
                read(text)
    assert not canary.exists()


def test_names_only_where_they_are_given() -> None:
    value: Any = parse_number("gamma*(x-mu)/sqrt(var+eps)+beta", names=("gamma", "x", "mu", "var", "eps", "beta"))
    assert {symbol.name for symbol in value.free_symbols} == {"gamma", "x", "mu", "var", "eps", "beta"}
    numbers = {"gamma": 2, "x": 5, "mu": 3, "var": 3, "eps": 1, "beta": 7}
    assert value.subs({symbol: numbers[symbol.name] for symbol in value.free_symbols}) == 9
    with pytest.raises(InputError, match="unknown name 'sigma'"):
        parse_number("sigma", names=("x",))


FOLDED = [
    ("x/1", 5), ("x/2", F(5, 2)), ("x*0", 0), ("0*x", 0), ("0/x", 0), ("x-x", 0), ("1/x", F(1, 5)), ("x^2/x", 5),
    ("x^-1", F(1, 5)), ("-x", -5), ("abs(1-x)", 4), ("sqrt(x-1)", 2), ("(x-4)(x-3)", 2), ("x²", 25),
]  # fmt: skip


@pytest.mark.parametrize(("text", "at_5"), FOLDED, ids=[text for text, _ in FOLDED])
def test_a_formula_is_worth_what_it_says(text: str, at_5: Any) -> None:
    value: Any = parse_number(text, names=("x",))
    symbols = getattr(value, "free_symbols", ())
    assert (value.subs(dict.fromkeys(symbols, 5)) if symbols else value) == at_5


def test_a_formula_over_0_is_refused_at_the_sign() -> None:
    with pytest.raises(InputError, match="division by 0") as caught:
        parse_number("1 + x/0", names=("x",))
    assert caught.value.position == 5


def test_the_limits_themselves_are_taken() -> None:
    assert parse_number("1" * 20_000) == (F(10) ** 20_000 - 1) / 9
    assert parse_number("1e19999") == F(10) ** 19_999
    assert parse_number("(" * 39 + "1" + ")" * 39) == 1
    assert parse_number("(1)".ljust(50_000)) == 1
    with pytest.raises(InputError, match="longer than 50000"):
        parse_number("(1)".ljust(50_001))


numbers = st.recursive(
    st.one_of(
        st.integers(-(10**30), 10**30).map(str),
        st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-1000, max_value=1000).map(str),
        st.integers(1, 200).map(lambda k: f"sqrt({k})"),
        st.just("pi"),
    ),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda p: f"({p[0]}){p[1]}({p[2]})"),
        inner.map(lambda a: f"-({a})"),
        inner.map(lambda a: f"sqrt(abs({a}))"),
        inner.map(lambda a: f"({a})^2"),
    ),
    max_leaves=6,
)


@given(numbers)
def test_what_is_printed_reads_back_to_the_same_value(text: str) -> None:
    try:
        value: Any = parse_number(text)
    except InputError:
        return
    printed = exact_text(value)
    again: Any = parse_number(printed)
    assert again == value or abs((again - value).evalf(60)) < 1e-50
    for notation in (UNICODE, ASCII):  # and so does what stands in the text output
        shown: Any = parse_number(notation.exact(value))
        assert shown == value or abs((shown - value).evalf(60)) < 1e-50
    with mpmath.workdps(80):
        truth = evaluate(text, 80)
        assert abs(evaluate(printed, 80) - truth) <= mpmath.mpf(10) ** -40 * max(abs(truth), 1)


LISTS: list[tuple[str, list[Any]]] = [
    ("2 4 4 6", [2, 4, 4, 6]), ("2,4,4,6", [2, 4, 4, 6]), ("[2, 4, 4, 6]", [2, 4, 4, 6]), ("[2 4 4 6]", [2, 4, 4, 6]),
    ("(2, 4, 4, 6)", [2, 4, 4, 6]), ("(2,4,4,6)", [2, 4, 4, 6]), ("(2 4 4 6)", [2, 4, 4, 6]),
    (" 2 ,\t4\n4 , 6 ", [2, 4, 4, 6]), ("7", [7]), ("1/3 0.1", [F(1, 3), F(1, 10)]),
    ("2(1+2), 3", [6, 3]), ("(1+2) 3", [3, 3]), ("(1+2)", [3]), ("-1 -2", [-1, -2]),
    ("[[1, 2], [3, 4]]", [[1, 2], [3, 4]]), ("[[1 2] [3 4]]", [[1, 2], [3, 4]]), ("[1 2] [3 4]", [[1, 2], [3, 4]]),
    ("[[[1], [2]], [[3], [4]]]", [[[1], [2]], [[3], [4]]]), ("[[1, 2]]", [[1, 2]]), ("[[[5]]]", [[[5]]]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "values"), LISTS, ids=[text for text, _ in LISTS])
def test_lists_in_all_forms(text: str, values: list[Any]) -> None:
    assert parse_vector(text).tolist() == values


BAD_LISTS = [
    ("", "no number"), ("[]", "missing"), ("1,,2", "missing"), ("1,2,", "missing"), (",1", "missing"),
    ("[1, 2", "not closed"), ("1]", "never opened"),
    ("[[1, 2, 3], [4, 5]]", "ragged: row 2 has 2 values, row 1 has 3"), ("[1, [2]]", "mixes"), ("[[1], 2]", "mixes"),
    ("[[[1, 2]], [[1, 2], [3, 4]]]", "ragged: row 2 has shape (2, 2), row 1 has shape (1, 2)"),
    ("[[[1, 2], [3, 4]], [[1], [2]]]", "ragged: row 2 has shape (2, 1), row 1 has shape (2, 2)"),
    ("0,5;1,5", "semicolon"), ("1; 2", "semicolon"), ("[[], []]", "missing"), ("[" * 12 + "1" + "]" * 12, "deep"),
    ("1 + 2", "too early"), ("1 2 x", "unknown name 'x'"), ("1 nan 3", "finite"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), BAD_LISTS, ids=[text[:20] for text, _ in BAD_LISTS])
def test_lists_refused(text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_vector(text)
    assert words in caught.value.what
    assert caught.value.hint or caught.value.position is not None


@pytest.mark.parametrize(("text", "spaces"), [("1 + 2", True), ("1 ** 2", True), ("1 2 x", False), ("1 +x", False)])
def test_spaces_within_an_expression_are_explained(text: str, spaces: bool) -> None:
    with pytest.raises(InputError) as caught:
        parse_vector(text)
    assert ("without spaces" in caught.value.hint) == spaces


def test_the_place_of_a_bad_entry_is_its_place_in_the_list() -> None:
    with pytest.raises(InputError) as caught:
        parse_vector("[1, 2, [3, 4+x]]")
    assert caught.value.text[caught.value.position or 0] == "x"
    with pytest.raises(InputError) as caught:
        parse_vector("12 x 3")
    assert caught.value.position == 3


@pytest.mark.parametrize("text", ["1 2 (3", "1, [2, 3", "[1, 2"])
def test_the_bracket_that_is_not_closed_is_pointed_at(text: str) -> None:
    with pytest.raises(InputError, match="not closed") as caught:
        parse_vector(text)
    assert text[caught.value.position or 0] in "(["


@pytest.mark.parametrize("arguments", [["0,5", "1,5"], ["1,2", "3"], ["3", "1,2"]])
def test_a_decimal_comma_or_two_lists_is_refused(arguments: list[str]) -> None:
    with pytest.raises(InputError, match="decimal comma") as caught:
        join_arguments(arguments)
    read_as_decimal = next(argument for argument in arguments if "," in argument).replace(",", ".")
    assert f"({read_as_decimal})" in caught.value.hint


@pytest.mark.parametrize("arguments", [["1,2,3"], ["1,", "2,", "3"], ["1", "2", "3"], ["[1,2,", "3]"]])
def test_arguments_that_make_one_vector(arguments: list[str]) -> None:
    assert parse_vector(join_arguments(arguments)).tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "x",
    [
        "1e900 sqrt(2)",
        "sqrt(2) 1e-900 3",
        "1e590 1/3 2",
        "1e99 sqrt(2) sqrt(3) pi",
        "1e599 7",
        "1e1199 7",
        "sqrt(1e9999+1) 1",
    ],
)
def test_no_vector_takes_long(x: str) -> None:
    """Factoring and primality tests inside sympy are kept away from long numbers."""
    began = time.process_time()
    with contextlib.suppress(InputError):
        trace(parse_vector(x))
    assert time.process_time() - began < 2


@pytest.mark.parametrize("text", ["9^9^9^9^9", "9^9^65504^94", "(1/3)^-9^65504^94", "sqrt(2)^9^65504^94", "2^(10^400)"])
def test_an_exponent_beyond_any_float_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"more than [0-9]+ digits"):
        parse_number(text)
