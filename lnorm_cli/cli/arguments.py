"""What is done to the arguments before typer parses them.

Negative numbers are arguments, not options, and a list option takes all the numbers that follow it. Both are
settled here by two rules, from the command's own list of options, so that a mistyped option is still refused.
"""

from __future__ import annotations

import re
from typing import Any

from lnorm_cli.errors import InputError

MINUS = "\u2212"
"""The minus that the number grammar reads and that no parser takes for an option."""

_NEGATIVE = re.compile(r"-(?:[0-9.(\[√+\u2212-]*[0-9.(\[√]|sqrt|pi\b|π|inf\b|nan\b|infinity\b|e[0-9])", re.IGNORECASE)
_EXPRESSION = re.compile(r"-[A-Za-z].*[()^*/]")
_FILE = re.compile(r"@|.*\.(?:npy|npz|json|csv|txt)\Z", re.IGNORECASE)


def prepare(arguments: list[str], command: Any) -> list[str]:
    """Join the values of list options into one (`--gamma=1 2 3`) and write the minus of numbers as U+2212.

    A list option is one whose metavar ends in "...". Its first value is the whole of it when it has a comma,
    a space or a bracket or names a file; otherwise every value up to the next option belongs to it.
    """
    leaf, start = _leaf(arguments, command)
    kinds = _options(leaf)
    prepared, i = list(arguments[:start]), start
    while i < len(arguments):
        argument = arguments[i]
        i += 1
        if argument == "--":
            return [*prepared, argument, *arguments[i:]]
        kind = kinds.get(argument)
        if kind in ("list", "value") and i == len(arguments):
            path = " ".join(["lnorm", *arguments[:start]])
            raise InputError(f"{argument} has no value", hint=f"give one, as {argument}=...; see {path} --help")
        if kind in ("list", "value") and arguments[i] in kinds:
            raise InputError(
                f"{argument} has no value: {arguments[i]} follows it",
                hint=f"a value that looks like an option is written {argument}={arguments[i]}",
            )
        if kind == "list":
            values: list[str] = []
            while i < len(arguments) and (not values or not _is_whole(values[0])) and _is_value(arguments[i], kinds):
                values.append(arguments[i])
                i += 1
            prepared.append(f"{argument}={' '.join(values)}" if values else argument)
        elif kind == "value":
            prepared += [argument, arguments[i]]
            i += 1
        else:
            prepared.append(MINUS + argument[1:] if _is_negative(argument, kinds) else argument)
    return prepared


def _leaf(arguments: list[str], command: Any) -> tuple[Any, int]:
    """The subcommand that the arguments name, and where its own arguments start."""
    for i, argument in enumerate(arguments):
        commands = getattr(command, "commands", None)
        if not commands or argument not in commands:
            return command, i
        command = commands[argument]
    return command, len(arguments)


def _options(command: Any) -> dict[str, str]:
    """Each option's name -> "list", "value" or "flag"."""
    kinds = {"-h": "flag", "--help": "flag"}
    for parameter in command.params:
        if parameter.param_type_name != "option":
            continue
        metavar = parameter.metavar or ""
        kind = "flag" if parameter.is_flag else ("list" if metavar.endswith("...") else "value")
        kinds.update(dict.fromkeys([*parameter.opts, *parameter.secondary_opts], kind))
    return kinds


def _is_negative(argument: str, kinds: dict[str, str]) -> bool:
    if not argument.startswith("-") or (argument.startswith("--") and not re.match(r"--[0-9.(]", argument)):
        return False
    if argument in kinds:
        return False
    return bool(_NEGATIVE.match(argument) or _EXPRESSION.match(argument))


def _is_value(argument: str, kinds: dict[str, str]) -> bool:
    return not argument.startswith("-") or _is_negative(argument, kinds)


def _is_whole(value: str) -> bool:
    return bool(set(value) & set(", [")) or is_file(value)


def is_file(value: str) -> bool:
    """Whether the value of a list option names a file: by its @, or by the ending of one that lnorm reads."""
    return _FILE.match(value) is not None
