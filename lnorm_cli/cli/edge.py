"""The edge of the program: arguments in, an exit code out, every error one message on stderr."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Any

from lnorm_cli.cli.arguments import MINUS, prepare
from lnorm_cli.errors import InputError


def run(arguments: list[str]) -> int:
    """Run one command line. 0 done, 1 wrong answer or code, 2 invalid input, 130 Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)  # sizes are bounded by exact.MAX_DIGITS
    debug = "--debug" in arguments
    given = [argument for argument in arguments if argument != "--debug"]
    as_json = _wants_json(given)
    import typer

    from lnorm_cli.cli.app import build

    command = build(given)
    try:
        result = command.main(prepare(given, command), prog_name="lnorm", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except typer.Exit as stop:
        return stop.exit_code
    except typer.Abort:
        return 130
    except InputError as error:
        _report(error.what, error.hint, error.text, error.position, as_json)
        return 2
    except BrokenPipeError:
        raise
    except Exception as error:
        if debug:
            import traceback

            traceback.print_exc()
            return 2
        message = getattr(error, "format_message", None)
        if message is not None:
            _report(_tidy(message()), _usage_hint(error), "", None, as_json)
        else:
            what = _memory(error) or f"internal error: {type(error).__name__}: {error}"
            _report(what, "this is a fault of lnorm; --debug shows where it arose", "", None, as_json)
        return 2


def _wants_json(arguments: list[str]) -> bool:
    if "--json" in arguments or "-fjson" in arguments or "--format=json" in arguments:
        return True
    return any(pair in (("-f", "json"), ("--format", "json")) for pair in pairwise(arguments))


def _memory(error: Exception) -> str:
    return "not enough memory for this input" if isinstance(error, MemoryError) else ""


def _tidy(message: str) -> str:
    """The parser's message as one sentence, without its list of guesses and its final dot."""
    return " ".join(message.split()).partition(" (Possible options")[0].partition(" Did you mean")[0].rstrip(".")


def _usage_hint(error: Any) -> str:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "lnorm"
    near = [name for name in getattr(error, "possibilities", None) or () if name != "--help"]
    return f"did you mean {near[0]}? (see {path} --help)" if near else f"see {path} --help"


def _report(what: str, hint: str, text: str, position: int | None, as_json: bool) -> None:
    """One error on stderr: a sentence, the place, how to mend it; under --json one object."""
    from lnorm_cli.render.terminal import visible

    what, text = (part.replace(MINUS, "-") for part in (what, text))
    if as_json:
        import json

        document = {"error": what, "hint": hint, "text": text or None, "position": position}
        print(json.dumps(document), file=sys.stderr)
        return
    print(f"error: {visible(what)}", file=sys.stderr)
    if text and position is not None:
        shown, mark = _excerpt(visible(text) if text.isprintable() else _flat(text), position)
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
