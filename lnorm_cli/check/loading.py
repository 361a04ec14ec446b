"""FILE.py:NAME: taken apart, and the file read (never run) to say early what is wrong with it."""

from __future__ import annotations

import ast
import difflib
import os
from pathlib import Path

from lnorm_cli.errors import InputError

EXAMPLE = "for example: lnorm check my.py:layer_norm"


def split_target(text: str) -> tuple[Path, str]:
    """FILE.py:NAME as a path and a name; `InputError` when one is missing, or the file cannot be parsed."""
    file, colon, name = text.rpartition(":")
    if not colon or os.sep in name or "/" in name or name.endswith(".py"):
        file, name = text, ""
    if not file:
        raise InputError("no file is named", hint=EXAMPLE)
    path = Path(file)
    tree = _parse(path, file)
    if not name:
        raise InputError(f"{file}: which function or class is it?", hint=_offer(file, tree))
    return path, name


def _offer(file: str, tree: ast.Module) -> str:
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    public = [name for name in names if not name.startswith("_")]
    if not public:
        return f"give it after a colon, {EXAMPLE}"
    return "one of: " + ", ".join(f"{file}:{name}" for name in public[:6])


def _parse(path: Path, file: str) -> ast.Module:
    try:
        source = path.read_bytes()
    except IsADirectoryError:
        raise InputError(f"{file} is a folder", hint=f"name a file in it, {EXAMPLE}") from None
    except FileNotFoundError:
        raise InputError(f"there is no file {file}", hint=_similar_file(path)) from None
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    try:
        return ast.parse(source, filename=file)
    except SyntaxError as error:
        raise _syntax_error(error, file) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{file} is not a Python file: {error}") from None


def _similar_file(path: Path) -> str:
    try:
        near = [entry.name for entry in path.parent.iterdir() if entry.suffix == ".py"]
    except OSError:
        return f"there is no folder {path.parent} either"
    close = difflib.get_close_matches(path.name, near, n=1, cutoff=0.75)
    if close:
        return f"did you mean {path.with_name(close[0])}?"
    return f"lnorm check --new {path} writes a starter" if path.suffix == ".py" else EXAMPLE


def _syntax_error(error: SyntaxError, file: str) -> InputError:
    line = (error.text or "").rstrip("\n")
    place = f"{file}, line {error.lineno}" if error.lineno else file
    position = error.offset - 1 if line and error.offset else None
    if position is not None and not 0 <= position <= len(line):
        position = None
    return InputError(f"{place}: {error.msg}", hint="Python itself cannot read the file", text=line, position=position)
