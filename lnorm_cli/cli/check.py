"""`lnorm check`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lnorm_cli.cli import completion, options
from lnorm_cli.errors import InputError

if TYPE_CHECKING:
    from lnorm_cli.check.report import Report

Dtype = Literal["float64", "float32", "float16", "bfloat16"]
EPILOG = """\b
Examples:
  lnorm check --new my.py
  lnorm check my.py:layer_norm
  lnorm check my.py:layer_norm --case small-variance --json
  lnorm check my.py:layer_norm --dtype float16

NAME is a function such as layer_norm(x, gamma, beta, eps) or a class with
gamma and beta (or weight and bias) that can be set and called with x. numpy,
torch, jax and plain lists are all fine. The file is run, in a process of its
own under a time and memory limit. --watch runs it again on every save.
"""


def register(app: typer.Typer) -> None:
    app.command("check", epilog=EPILOG)(check)


def check(
    target: Annotated[str | None, typer.Argument(metavar="FILE.py:NAME", help="Your function or class.")] = None,
    norm: Annotated[Literal["layer", "rms"], typer.Option("--norm", help="What it should be.")] = "layer",
    case: Annotated[
        list[str] | None,
        typer.Option(
            "--case", metavar="ID", help="Run this case only (may be repeated).", autocompletion=completion.cases
        ),
    ] = None,
    dtype: Annotated[Dtype | None, typer.Option("--dtype", help="Ask every case in this dtype.")] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", min=0.05, max=3600, help="Time for one case.")
    ] = 5.0,
    new: Annotated[str | None, typer.Option("--new", metavar="FILE.py", help="Write a starter to fill in.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Run again whenever the file is saved.")] = False,
    json: Annotated[bool, typer.Option("--json", help="The result as JSON.")] = False,
    ascii: options.Ascii = False,
) -> int:
    """Run your own layer_norm against the suite."""
    if new is not None:
        return _start(new, target, norm, ascii)
    if target is None:
        raise InputError("no function named", hint="give FILE.py:NAME, or begin with: lnorm check --new my.py")
    if not timeout > 0:  # nan
        raise InputError("--timeout: nan is no number of seconds", hint="such as --timeout 5")
    if watch and json:
        raise InputError("--watch and --json do not go together", hint="leave one of them out")
    from lnorm_cli.check.process import Limits
    from lnorm_cli.check.run import check as run

    def once() -> Report:
        return run(
            target,
            norm=norm,
            only=case or (),
            dtype=dtype,
            limits=Limits(seconds=timeout),
            announce=(lambda: None) if json else (lambda: _say_that_it_runs(target, timeout)),
        )

    if watch:
        return _watch(target, once, ascii)
    report = once()
    if json:
        from lnorm_cli.render.machine import write_json

        write_json(report.json(), sys.stdout)
    else:
        _write(report, ascii)
    return _code(report)


def _code(report: Report) -> int:
    return 0 if report.verdict == "conforms" else 1


def _start(file: str, target: str | None, norm: str, ascii: bool) -> int:
    from lnorm_cli.check.starter import write_starter
    from lnorm_cli.render.terminal import Terminal, visible

    if target is not None:
        raise InputError("--new writes a file and checks none", hint="leave FILE.py:NAME out")
    made = write_starter(file, norm)
    option = "" if norm == "layer" else f" --norm {norm}"
    told = f"wrote {visible(file)}; fill it in, then: lnorm check {visible(made)}{option}"
    Terminal(ascii=ascii).paragraph(told)
    return 0


def _say_that_it_runs(target: str, timeout: float) -> None:
    from lnorm_cli.render.terminal import visible

    file = target.rpartition(":")[0] or target
    print(f"running {visible(file)} in a process of its own, {timeout:g} s a case", file=sys.stderr, flush=True)


def _write(report: Report, ascii: bool) -> None:
    from lnorm_cli.check.text import write
    from lnorm_cli.render.terminal import Terminal

    write(Terminal(ascii=ascii), report)


def _watch(target: str, once: Callable[[], Report], ascii: bool) -> int:
    """Run on every save, until Ctrl-C. An error of the file is shown, and the next save awaited."""
    from lnorm_cli.check.loading import split_target
    from lnorm_cli.check.watch import saves
    from lnorm_cli.render.terminal import visible

    path = Path(target.rpartition(":")[0] or target)
    if not path.exists():
        split_target(target)
    for _ in saves(path):
        try:
            _write(once(), ascii)
            sys.stdout.flush()  # a pipe would keep it until the end, which does not come
        except InputError as error:
            print(f"error: {visible(error.what)}\nhint: {visible(error.hint)}", file=sys.stderr)
        print(f"\nwaiting for {visible(str(path))} to be saved; Ctrl-C leaves", file=sys.stderr, flush=True)
    return 0
