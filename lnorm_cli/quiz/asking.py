"""Reading one line at a time, from a person at a terminal or through a pipe."""

from __future__ import annotations

import contextlib
import sys

from lnorm_cli.render.terminal import visible

ECHOED = 120
"""Of an answer that comes through a pipe, this many characters are repeated in the output."""


class EndOfInput(Exception):  # noqa: N818
    """There are no more answers."""


class Prompter:
    """Asks for a line. At a terminal it can be edited; through a pipe it is repeated, so that the output reads well."""

    def __init__(self) -> None:
        self.at_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
        if self.at_terminal:
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401  (input() then edits lines)

    def ask(self, prompt: str) -> str:
        """The next line without its end; EndOfInput when there is none."""
        if self.at_terminal:
            sys.stdout.flush()
            try:
                return input(prompt)
            except EOFError:
                print()
                raise EndOfInput from None
            except UnicodeDecodeError:
                return "\ufffd"
        sys.stdout.write(prompt)
        sys.stdout.flush()
        if sys.stdin is None:
            raise EndOfInput
        line = sys.stdin.buffer.readline()
        if not line:
            print()
            raise EndOfInput
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        shown = visible(text[:ECHOED]) + ("..." if len(text) > ECHOED else "")
        print(shown.encode(sys.stdout.encoding or "ascii", "replace").decode(sys.stdout.encoding or "ascii"))
        return text
