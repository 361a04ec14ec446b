"""The `lnorm` command."""

from __future__ import annotations

import gc
import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Run the command line; Ctrl-C and a closed pipe end it silently, with 130 and 141."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, _closed_pipe)
    gc.set_threshold(50_000)  # start-up makes many objects and no garbage: collecting costs a tenth of it
    try:
        from lnorm_cli.cli.edge import run

        code = run(sys.argv[1:])
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # done: a late Ctrl-C must not break the way out
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        _closed_pipe()
    sys.exit(code)


def _closed_pipe(signum: int = 0, frame: FrameType | None = None) -> None:
    """Nobody reads any more: leave at once, without the flush that would fail again."""
    os._exit(141)


if __name__ == "__main__":
    main()
