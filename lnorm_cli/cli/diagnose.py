"""`lnorm diagnose`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lnorm_cli.cli import options
from lnorm_cli.cli.arguments import is_file
from lnorm_cli.errors import InputError

if TYPE_CHECKING:
    from lnorm_cli.faults import Diagnosis

Dtype = Literal["float64", "float32", "float16", "bfloat16"]
EPILOG = """\b
Examples:
  lnorm diagnose 2 4 4 6 --given -1.2247 0 0 1.2247
  lnorm diagnose 1 2 4 --gamma 2 0.5 3 --beta 1 --given -0.138 0.366 7.009
  lnorm diagnose 1 2 3 4 --norm rms --given -1.342 -0.447 0.447 1.342
  lnorm diagnose 8000 -8000 7600 --norm rms --dtype float16 --given 0,0,0
  lnorm diagnose 1 2 3 6 --residual 2 4 6 12 --given 3 6 9 18

\b
With files: lnorm diagnose -i x.npy --given y.npy --gamma @gamma.npy
A typed answer is compared at the digits typed, an array at its dtype.
Exit code: 0 correct, rounded or undecided; 1 wrong; 2 malformed, or an error.
"""
EXIT_CODES = {"correct": 0, "rounded": 0, "undecided": 0, "wrong": 1, "malformed": 2}


def register(app: typer.Typer) -> None:
    app.command("diagnose", epilog=EPILOG)(diagnose)


def diagnose(
    numbers: options.Numbers = None,
    source: options.Input = None,
    given: Annotated[
        str | None, typer.Option("--given", metavar="NUMBERS...", help="The answer: numbers, or a file.")
    ] = None,
    gamma: options.Gamma = None,
    beta: options.Beta = None,
    eps: options.Eps = None,
    norm: options.Norm = "layer",
    axis: options.Axis = None,
    residual: Annotated[
        str | None,
        typer.Option("--residual", metavar="NUMBERS...", help="A sublayer's output F, added to x: numbers or a file."),
    ] = None,
    order: Annotated[
        Literal["post", "pre", "final"] | None,
        typer.Option("--order", help="post: norm(x + F); pre: x + F(norm(x)); final: the last norm. [post]"),
    ] = None,
    dtype: Annotated[
        Dtype | None, typer.Option("--dtype", help="Floating-point type that the answer was computed in.")
    ] = None,
    format: Annotated[Literal["text", "json"], typer.Option("-f", "--format", help="How to write it.")] = "text",
    json: options.Json = False,
    ascii: options.Ascii = False,
) -> int:
    """Say what went wrong in an answer or in a program's output."""
    options.missing_x_hint("diagnose", numbers, source, given=given, gamma=gamma, beta=beta, residual=residual)
    if given is None:
        raise InputError("no answer given", hint="add it: lnorm diagnose 2 4 4 6 --given -1.414 0 0 1.414")
    if order is not None and residual is None:
        raise InputError("--order needs the sublayer's output", hint="add --residual F")
    from lnorm_cli.faults import diagnose as run

    arrays = options.read_x(numbers, source)
    stated = eps is not None or arrays.eps is not None
    asked = options.read_request(arrays, norm, axis, gamma=gamma, beta=beta, eps=eps)
    result = run(
        asked.x,
        _read_answer(given),
        gamma=asked.gamma,
        beta=asked.beta,
        eps=asked.eps if stated else None,
        spec=asked.spec,
        residual=_read_residual(residual),
        order=order,
        dtype=dtype,
    )
    _write(result, norm, json or format == "json", ascii)
    return EXIT_CODES[result.verdict]


def _read_answer(value: str) -> Any:
    """The numbers of a file, or the text as typed: whether that is an answer is for the diagnosis to say."""
    file = _file(value)
    if file is None:
        return value
    from lnorm_cli.reading import read_arrays

    try:
        return read_arrays(file, finite=False).x
    except InputError as error:
        raise error.located("--given") from None


def _read_residual(value: str | None) -> Any:
    if value is None:
        return None
    file = _file(value)
    return options.read_parameter("residual", value if file is None else f"@{file}")


def _file(value: str) -> str | None:
    """The file that an option's value names: `@FILE`, or a name that exists or ends as data files do."""
    return value.removeprefix("@") if is_file(value) or _exists(value) else None


def _exists(value: str) -> bool:
    try:
        return Path(value).is_file()
    except (OSError, ValueError):
        return False


def _write(result: Diagnosis, norm: str, as_json: bool, ascii: bool) -> None:
    if as_json:
        from lnorm_cli.render.machine import write_json

        write_json(result.json(), sys.stdout)
        return
    from lnorm_cli.faults.text import write
    from lnorm_cli.render.terminal import Terminal

    write(Terminal(ascii=ascii), result, norm)
