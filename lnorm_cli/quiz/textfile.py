"""Text files of teachers: packs and answers. Errors name the file and the line."""

from __future__ import annotations

from pathlib import Path

from lnorm_cli.errors import InputError


def read_text(source: str | Path, most: int) -> str:
    """The text of a UTF-8 file of at most `most` bytes; InputError for a file that cannot be read or is none."""
    try:
        raw = Path(source).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL in it
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{source}: cannot be read: {reason}", hint="check the file name") from None
    if len(raw) > most:
        raise InputError(f"{source}: larger than {most} bytes", hint="split the file")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InputError(f"{source}, line {line}: not UTF-8 text", hint="save it as UTF-8") from None
