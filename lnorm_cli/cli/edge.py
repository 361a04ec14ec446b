"""The edge of the program: arguments in, an exit code out, every error one message on stderr."""

from __future__ import annotations

import os
import sys
from itertools import pairwise
from typing import Any

from lnorm_cli.cli.arguments import MINUS, prepare
from lnorm_cli.errors import InputError, ProblemsError


def run(arguments: list[str]) -> int:
    """Run one command line. 0 done, 1 wrong answer or code, 2 invalid input, 130 Ctrl-C."""
    if sys.stdout is None:  # closed by the caller: nobody wants to read
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)  # sizes are bounded by exact.MAX_DIGITS
    given = [argument for argument in arguments if argument != "--debug"]
    try:
        code = _dispatch(given)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        raise
    except Exception as error:
        if len(given) < len(arguments):
            import traceback

            traceback.print_exc()
        else:
            _report(_explained(error), _wants_json(given))
        return 2


def _dispatch(arguments: list[str]) -> int:
    import typer

    from lnorm_cli.cli.app import build

    command = build(arguments)
    try:
        result = command.main(prepare(arguments, command), prog_name="lnorm", standalone_mode=False)
    except typer.Exit as stop:
        return stop.exit_code
    except typer.Abort:
        return 130
    return result if isinstance(result, int) else 0


def _explained(error: Exception) -> InputError:
    """Any error as one that says what, where and how to mend it."""
    if isinstance(error, InputError):
        return error
    if hasattr(error, "format_message"):
        return InputError(_tidy(error.format_message()), hint=_usage_hint(error))
    if isinstance(error, MemoryError):
        return InputError("not enough memory for this input", hint="take fewer rows, or --no-exact")
    if isinstance(error, OSError) and error.filename is None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the rest would fail again at the end
        return InputError(f"the output cannot be written: {error.strerror}", hint="is the disk full?")
    what = f"internal error: {type(error).__name__}: {error}"
    return InputError(what, hint="this is a fault of lnorm; --debug shows where it arose")


def _wants_json(arguments: list[str]) -> bool:
    if "--json" in arguments or "-fjson" in arguments or "--format=json" in arguments:
        return True
    return any(pair in (("-f", "json"), ("--format", "json")) for pair in pairwise(arguments))


def _tidy(message: str) -> str:
    """The parser's message as one sentence, without its list of guesses and its final dot."""
    return " ".join(message.split()).partition(" (Possible options")[0].partition(" Did you mean")[0].rstrip(".")


def _usage_hint(error: Any) -> str:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "lnorm"
    near = [name for name in getattr(error, "possibilities", None) or () if name != "--help"]
    return f"did you mean {near[0]}? (see {path} --help)" if near else f"see {path} --help"


def _report(error: InputError, as_json: bool) -> None:
    """One error on stderr: a sentence, the place, how to mend it; under --json one object."""
    from lnorm_cli.render.terminal import visible

    what, hint, text = (part.replace(MINUS, "-") for part in (error.what, error.hint, error.text))
    if as_json:
        import json

        document = {"error": what, "hint": hint, "text": text or None, "position": error.position}
        print(json.dumps(document), file=sys.stderr)
        return
    for line in what.split("\n") if isinstance(error, ProblemsError) else [what]:
        print(f"error: {visible(line)}", file=sys.stderr)
    if text and error.position is not None:
        shown, mark = _excerpt(visible(text) if text.isprintable() else _flat(text), error.position)
        print(f"  {shown}\n  {' ' * mark}^", file=sys.stderr)
    if hint:
        print(f"hint: {visible(hint)}", file=sys.stderr)


def _flat(text: str) -> str:
    """Text with each unprintable character as one question mark, so that positions stay."""
    return "".join(character if character.isprintable() else "?" for character in text)


def _excerpt(text: str, position: int, width: int = 60) -> tuple[str, int]:
    """The part of a long text around the position."""
    start = max(0, min(position - width // 2, len(text) - width))
    return text[start : start + width], position - start
