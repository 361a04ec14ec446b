"""Reading one line at a time, from a person at a terminal or through a pipe."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator

from lnorm_cli.render.terminal import visible

ECHOED = 120
"""Of an answer that comes through a pipe, this many characters are repeated in the output."""


class EndOfInput(Exception):  # noqa: N818
    """There are no more answers."""


class Prompter:
    """Asks for a line. At a terminal it can be edited; from a pipe it is repeated, so that the output reads well."""

    def __init__(self) -> None:
        self.at_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
        if self.at_terminal:
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401  (input() then edits lines)

    def ask(self, prompt: str) -> str:
        """The next line without its end; EndOfInput when there is none."""
        return self._typed(prompt) if self.at_terminal else self._piped(prompt)

    def _typed(self, prompt: str) -> str:
        sys.stdout.flush()
        try:
            with _repeated_interrupt():
                return input(prompt)
        except EOFError:
            print()
            raise EndOfInput from None
        except UnicodeDecodeError:
            return "\ufffd"
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # one is enough: the way out is not to be interrupted
            print()
            raise

    def _piped(self, prompt: str) -> str:
        sys.stdout.write(prompt)
        sys.stdout.flush()
        line = sys.stdin.buffer.readline() if sys.stdin is not None else b""
        if not line:
            print()
            raise EndOfInput
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        shown = visible(text[:ECHOED]) + ("..." if len(text) > ECHOED else "")
        encoding = sys.stdout.encoding or "ascii"
        print(shown.encode(encoding, "replace").decode(encoding))
        return text


@contextlib.contextmanager
def _repeated_interrupt() -> Iterator[None]:
    """Repeat a Ctrl-C until it is noticed.

    One that arrives after the prompt is written, but before input() waits, would else be noticed only at the
    next key.
    """
    if not hasattr(signal, "pthread_kill") or threading.current_thread() is not threading.main_thread():
        yield
        return
    main, over = threading.get_ident(), threading.Event()
    reader, writer = os.pipe()
    os.set_blocking(writer, False)

    def repeat() -> None:
        while signum := os.read(reader, 1):
            while signum[0] == signal.SIGINT and not over.wait(0.1):
                signal.pthread_kill(main, signal.SIGINT)

    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(before)
        os.close(writer)
        thread.join()
        os.close(reader)
