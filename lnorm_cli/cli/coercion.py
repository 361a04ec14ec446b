"""Values of options without pydantic.

Recent typer turns each option's text into its type with a pydantic validator; importing pydantic and building
the validators costs a third of `lnorm compute`'s whole time. Ours are words, choices, flags and whole numbers:
they are read here. Where typer is built another way, its own reading is left in place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

import typer


def use_plain_values(command: Any) -> None:
    """Give every parameter of a command and its subcommands a `PlainValue`, where its type allows."""
    context = typer.Context(command, help_option_names=["-h", "--help"])
    for parameter in command.get_params(context):
        if parameter.param_type_name == "argument" and hasattr(parameter, "display_type_rich"):
            parameter.display_type_rich = _no_type  # the help would say <list[str]>
        descriptor = getattr(parameter, "type_descriptor", None)
        if descriptor is None or not hasattr(parameter, "_runtime_param"):
            continue
        annotation = descriptor.annotation
        if annotation in (str, bool, int, float, list[str]) or get_origin(annotation) is Literal:
            parameter._runtime_param = PlainValue(annotation, descriptor.parameter_info)
    for subcommand in getattr(command, "commands", {}).values():
        use_plain_values(subcommand)


def _no_type(ctx: Any) -> str:
    return ""


@dataclass(frozen=True)
class PlainValue:
    """Reads one parameter; `coerce` is what typer calls."""

    annotation: Any
    info: Any

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        if value is None or isinstance(value, (bool, list, tuple)):
            return list(value) if isinstance(value, tuple) else value
        if get_origin(self.annotation) is Literal:
            choices = get_args(self.annotation)
            if value not in choices:
                self._refuse(f"{value!r} is not one of {', '.join(choices)}", param, ctx)
            return value
        return self._number(value, param, ctx) if self.annotation in (int, float) else value

    def _number(self, value: Any, param: Any, ctx: Any) -> float:
        try:
            number = self.annotation(str(value).replace("\u2212", "-"))
        except ValueError:
            number = math.nan
        if number != number or abs(number) == math.inf:
            what = "a whole number" if self.annotation is int else "a number"
            self._refuse(f"{value!r} is not {what}", param, ctx)
        low, high = self.info.min, self.info.max
        if (low is not None and number < low) or (high is not None and number > high):
            limits = f"from {low} to {high}" if None not in (low, high) else f"{low} or greater"
            self._refuse(f"{number} is out of range: it must be {limits}", param, ctx)
        return number  # type: ignore[no-any-return]

    def _refuse(self, what: str, param: Any, ctx: Any) -> Any:
        raise typer.BadParameter(what, ctx=ctx, param=param)
