"""`lnorm compute`."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lnorm_cli.cli import options
from lnorm_cli.errors import InputError

if TYPE_CHECKING:
    from lnorm_cli.compute import Computation

Dtype = Literal["float64", "float32", "float16", "bfloat16"]
EPILOG = """\b
Examples:
  lnorm compute 2 4 4 6
  lnorm compute -1 2 -3 --gamma 1 2 3 --beta 0.5
  lnorm compute 3 5 2 6 --eps 0 --format latex
  lnorm compute 600 -600 0 0 --dtype float16
  lnorm compute 2 4 1 3 --backward 1 0 0 0
  lnorm compute "[[1, 2, 4], [3, 5, 9]]" --norm batch
  echo "2 4 4 6" | lnorm compute - --json
"""


def register(app: typer.Typer) -> None:
    app.command("compute", epilog=EPILOG)(compute)


def compute(
    numbers: options.Numbers = None,
    source: options.Input = None,
    gamma: options.Gamma = None,
    beta: options.Beta = None,
    eps: options.Eps = None,
    norm: options.Norm = "layer",
    axis: options.Axis = None,
    row: Annotated[
        str,
        typer.Option(
            "--row",
            metavar="ROWS",
            help="Rows to show, from 0: 0, 2,5 or 1:4. all: the first in steps, a line for each other.",
        ),
    ] = "all",
    dtype: Annotated[Dtype, typer.Option("--dtype", help="The floating-point side.")] = "float64",
    accumulate: Annotated[
        Dtype | None, typer.Option("--accumulate", help="Dtype of the statistics. [that of --dtype]")
    ] = None,
    digits: Annotated[int, typer.Option("--digits", min=1, max=17, help="Significant digits of decimals.")] = 6,
    no_exact: Annotated[bool, typer.Option("--no-exact", help="Floating point only.")] = False,
    backward: Annotated[
        str | None,
        typer.Option("--backward", metavar="DY...", help="Upstream gradient: adds dx, dgamma and dbeta."),
    ] = None,
    format: Annotated[
        Literal["text", "json", "markdown", "latex", "csv"],
        typer.Option("-f", "--format", help="How to write it."),
    ] = "text",
    json: options.Json = False,
    ascii: options.Ascii = False,
) -> int:
    """Normalize a vector, every step shown."""
    options.missing_x_hint("compute", numbers, source, gamma=gamma, beta=beta, backward=backward)
    from lnorm_cli.compute import compute as run

    asked = options.read_request(
        options.read_x(numbers, source),
        norm,
        axis,
        gamma=gamma,
        beta=beta,
        eps=eps,
        dtype=dtype,
        accumulate=accumulate,
        with_exact=not no_exact,
        upstream=options.read_parameter("backward", backward),
    )
    rows = _rows(row, asked.layout.count)
    machine = json or format in ("json", "csv")
    if not machine and len(rows) > ROWS_SHOWN and row == "all":
        rows = [*rows[: ROWS_SHOWN - 1], rows[-1]]
    detailed = rows if machine or (row != "all" and len(rows) <= ROWS_SHOWN) else rows[:1]
    computation = run(asked, rows, detailed)
    _write(computation, "json" if json else format, digits, ascii, len(detailed))
    return 0


ROWS_SHOWN = 12
"""Of more rows than this, formats for people show the first ones and the last."""


def _write(computation: Computation, format: str, digits: int, ascii: bool, detailed: int) -> None:
    if format == "json":
        from lnorm_cli.render.machine import compute_document, write_json

        write_json(compute_document(computation), sys.stdout)
        return
    if format == "csv":
        from lnorm_cli.render.machine import write_csv

        write_csv(computation, sys.stdout)
        return
    from lnorm_cli.render.terminal import Terminal
    from lnorm_cli.render.text import TextWriter
    from lnorm_cli.render.walk import walk
    from lnorm_cli.render.writer import Writer

    terminal = Terminal(ascii=ascii)
    writer: Writer = TextWriter(terminal)
    if format == "markdown":
        from lnorm_cli.render.markup import MarkdownWriter

        writer = MarkdownWriter(sys.stdout, terminal.notation)
    elif format == "latex":
        from lnorm_cli.render.markup import LatexWriter

        writer = LatexWriter(sys.stdout)
    walk(computation, writer, digits, detailed=detailed)


def _rows(text: str, count: int) -> list[int]:
    """The row numbers that `--row` names."""
    if text == "all":
        return list(range(count))
    chosen: list[int] = []
    for part in re.split(r"[,\s]+", text.replace("\u2212", "-").strip()):
        match = re.fullmatch(r"(-?[0-9]{1,9})(?::(-?[0-9]{1,9}))?", part)
        if match is None:
            raise InputError(f"--row: {text!r} names no rows", hint="write all, 0, 2,5 or 1:4")
        first = int(match[1])
        stop = first + 1 if match[2] is None else int(match[2])
        for number in range(first, stop) if match[2] is None else range(*slice(first, stop).indices(count)):
            if not -count <= number < count:
                raise InputError(
                    f"--row: there is no row {number}: x has {count} row{'' if count == 1 else 's'}",
                    hint=f"rows run from 0 to {count - 1}",
                )
            chosen.append(number % count)
    if not chosen:
        raise InputError(f"--row: {text!r} names no rows", hint="write all, 0, 2,5 or 1:4")
    return list(dict.fromkeys(chosen))
