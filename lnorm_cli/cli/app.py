"""The commands, in the two groups that the help shows."""

from __future__ import annotations

from importlib import import_module, util
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

GROUPS = {"Learn": ("compute", "explain", "quiz"), "Verify": ("diagnose", "check")}


class Grouped(TyperGroup):
    """A group whose help lists its commands under `GROUPS`."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        width = max(map(len, self.commands), default=0)
        for heading, names in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [
                        (name.ljust(width), self.commands[name].get_short_help_str(limit=60))
                        for name in names
                        if name in self.commands
                    ]
                )


def build() -> Any:
    """The command line as one command object."""
    app = typer.Typer(
        name="lnorm",
        cls=Grouped,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="Start with: lnorm compute 2 4 4 6",
    )
    app.callback(invoke_without_command=True)(_root)
    for names in GROUPS.values():
        for name in names:
            if util.find_spec(f"lnorm_cli.cli.{name}"):
                import_module(f"lnorm_cli.cli.{name}").register(app)
    return typer.main.get_command(app)


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
