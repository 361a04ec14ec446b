"""The commands, in the two groups that the help shows."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from lnorm_cli.cli.coercion import use_plain_values
from lnorm_cli.cli.help import Group, use_own_help
from lnorm_cli.errors import InputError

GROUPS = {"Learn": ("compute", "explain", "quiz"), "Verify": ("diagnose", "check")}


class Grouped(Group):
    """The commands under `GROUPS`; a mistyped one is suggested."""

    headings = GROUPS

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.commands and not args[0].startswith("-"):
            if ctx.resilient_parsing:  # the shell asks what may come: no place for an error
                return None, None, []
            import difflib

            near = difflib.get_close_matches(args[0], self.commands, n=1)
            hint = f"did you mean {near[0]}?" if near else f"commands are {', '.join(self.commands)}"
            if parses(args[0]):
                hint = f"to normalize a vector: lnorm compute {' '.join(args)}"
            raise InputError(f"there is no command {args[0]!r}", hint=hint)
        return super().resolve_command(ctx, args)


def parses(text: str) -> bool:
    """Whether the text is a number, or a list of them."""
    from lnorm_cli.reading import parse_vector

    try:
        parse_vector(text)
    except InputError:
        return False
    return True


def build(arguments: Sequence[str] = ()) -> Any:
    """The command line as one command object; arguments that open with a command need no other one built."""
    app = typer.Typer(
        name="lnorm",
        cls=Grouped,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="Start with: lnorm compute 2 4 4 6",
    )
    app.callback(invoke_without_command=True)(_root)
    names = [name for group in GROUPS.values() for name in group]
    for name in arguments[:1] if arguments and arguments[0] in names else names:
        import_module(f"lnorm_cli.cli.{name}").register(app)
    if arguments and set(arguments) <= {"-h", "--help", "--version"}:
        _leave_parameters_out(app)
    command = typer.main.get_command(app)
    use_plain_values(command)
    use_own_help(command)
    return command


def _leave_parameters_out(app: typer.Typer) -> None:
    """Keep the commands' names and first lines, all that the help of the whole shows; building options takes longer."""
    for command in app.registered_commands:
        told = command.callback.__doc__

        def callback() -> None: ...

        callback.__doc__ = told
        command.callback = callback
    for group in app.registered_groups:
        group.typer_instance = typer.Typer(help=group.help)


def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,
) -> None:
    """A tutor for layer normalization: every step, exactly and in floating point."""
    if version:
        from lnorm_cli import __version__

        typer.echo(f"lnorm {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
