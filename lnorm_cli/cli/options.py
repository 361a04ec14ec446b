"""Options that several commands share, and the reading of their values."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lnorm_cli.cli.arguments import is_file
from lnorm_cli.errors import InputError

if TYPE_CHECKING:
    from lnorm_cli.exact import Exact
    from lnorm_cli.reading import Arrays
    from lnorm_cli.request import Request

Numbers = Annotated[
    list[str] | None,
    typer.Argument(metavar="X", show_default=False, help="The activations: 2 4 4 6 or 2,4,4,6."),
]
Input = Annotated[
    str | None,
    typer.Option("-i", "--input", metavar="FILE", help="Read x from json, csv, txt, npy, npz; - is stdin."),
]
Gamma = Annotated[
    str | None,
    typer.Option("--gamma", metavar="NUMBERS...", help="Scale: one number, one a feature, or @FILE. [1]"),
]
Beta = Annotated[
    str | None,
    typer.Option("--beta", metavar="NUMBERS...", help="Shift: one number, one a feature, or @FILE. [0]"),
]
Eps = Annotated[str | None, typer.Option("--eps", metavar="NUMBER", help="Epsilon, 0 or greater. [1e-5]")]
Norm = Annotated[Literal["layer", "rms", "batch"], typer.Option("--norm", help="Which normalization.")]
Axis = Annotated[
    str | None,
    typer.Option("--axis", metavar="AXES", help="Axes that share one mean, such as -1 or 1,2. [-1]"),
]
Json = Annotated[bool, typer.Option("--json", help="Short for --format json.")]
Ascii = Annotated[bool, typer.Option("--ascii", help="Spell symbols out: mu, sigma^2, sqrt, eps.")]


def read_x(numbers: list[str] | None, source: str | None) -> Arrays:
    """x from the arguments, a file, or (for "-") standard input; InputError when there is none, or two."""
    from lnorm_cli.reading import Arrays, join_arguments, parse_vector, read_arrays

    if numbers == ["-"]:
        numbers, source = None, "-" if source is None else source
    if source is not None and numbers:
        raise InputError(
            "x is given twice: as numbers and as --input",
            hint="leave one of them out (two axes are one word: --axis 1,2)",
        )
    if source is not None:
        return read_arrays(source)
    if not numbers:
        raise InputError("no numbers given", hint="give x first: lnorm compute 2 4 4 6, or --input FILE")
    if len(numbers) == 1 and is_file(numbers[0]):
        raise InputError(f"{numbers[0]} is no number", hint=f"a file goes after -i: -i {numbers[0].removeprefix('@')}")
    return Arrays(parse_vector(join_arguments(numbers)))


def missing_x_hint(command: str, numbers: list[str] | None, source: str | None, **options: str | None) -> None:
    """When a list option has swallowed x, say so."""
    if numbers or source is not None:
        return
    for name, value in options.items():
        if value is not None and len(value.split()) > 1:
            first, *rest = value.split()
            mended = f"lnorm {command} {' '.join(rest)} --{name} {first}; or write --{name}={first}"
            if name not in ("gamma", "beta"):
                mended = f"lnorm {command} 2 4 4 6 --{name} {value}"
            raise InputError(
                f"--{name} took all {len(value.split())} numbers after it, and no x is left",
                hint=f"put x first: {mended}",
            )


def read_parameter(name: str, value: str | None) -> Any:
    """The array of a list option: numbers as typed, or the x of a file (`@FILE`); None when it was not given."""
    from lnorm_cli.reading import parse_vector, read_arrays

    if value is None:
        return None
    try:
        if is_file(value):
            return read_arrays(value.removeprefix("@")).x
        return parse_vector(value)
    except InputError as error:
        raise error.located(f"--{name}") from None


def read_number(name: str, value: str) -> Exact:
    """The exact number of an option."""
    from lnorm_cli.reading import parse_number

    try:
        return parse_number(value)
    except InputError as error:
        raise error.located(f"--{name}") from None


def read_eps(value: str | None, from_file: Exact | None) -> Exact:
    """Epsilon from the option, else the file, else 1e-5."""
    if value is not None:
        from lnorm_cli import exact

        eps = read_number("eps", value)
        if exact.sign(eps) < 0:
            raise InputError(f"--eps: {value} is negative", hint="eps must be a finite number, 0 or greater")
        return eps
    return Fraction(1, 100_000) if from_file is None else from_file


def read_request(
    arrays: Arrays, norm: str, axis: str | None, *, gamma: str | None, beta: str | None, eps: str | None, **more: Any
) -> Request:
    """The checked question: an option stands before what the file holds; `more` goes to `request` as it is."""
    from lnorm_cli.request import request

    return request(
        norm,
        arrays.x,
        gamma=arrays.gamma if gamma is None else read_parameter("gamma", gamma),
        beta=arrays.beta if beta is None else read_parameter("beta", beta),
        eps=read_eps(eps, arrays.eps),
        axes=read_axes(axis),
        **more,
    )


def read_axes(value: str | None) -> tuple[int, ...] | None:
    """Axes such as `-1` or `1,2`."""
    if value is None:
        return None
    parts = [part for part in re.split(r"[,\s]+", value.replace("\u2212", "-").strip("()[] ")) if part]
    if not parts or not all(re.fullmatch(r"[+-]?[0-9]{1,3}", part) for part in parts):
        raise InputError(f"--axis: {value!r} is no list of axes", hint="write -1, or 1,2 for two axes")
    return tuple(map(int, parts))
