"""`lnorm explain`."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lnorm_cli.cli import completion, options

if TYPE_CHECKING:
    from lnorm_cli.explain.page import Page
    from lnorm_cli.explain.topics import Topic

EPILOG = """\b
Examples:
  lnorm explain
  lnorm explain prenorm
  lnorm explain pre-ln --depth 48 --seed 7
  lnorm explain placement --x 2 4 4 6 --sublayer "z^2"
  lnorm explain --shape 2,2,2,3 --axis -1
  lnorm explain backward --x 3 5 2 6
  lnorm explain epsilon --format markdown
"""


def register(app: typer.Typer) -> None:
    app.command("explain", epilog=EPILOG)(explain)


Words = Annotated[
    list[str] | None,
    typer.Argument(metavar="TOPIC", help="Left out: the list of topics.", autocompletion=completion.topics),
]
X = Annotated[str | None, typer.Option("--x", metavar="NUMBERS...", help="Your own row, where one is used.")]
Sublayer = Annotated[str | None, typer.Option("--sublayer", metavar="FORMULA", help="Your own f(z), such as 2*z.")]
Shape = Annotated[str | None, typer.Option("--shape", metavar="SIZES", help="Your own shape, such as 2,2,2,3.")]
Depth = Annotated[int | None, typer.Option("--depth", metavar="N", help="Layers of the stacks.")]
Width = Annotated[int | None, typer.Option("--width", metavar="N", help="Features of the stacks.")]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", help="Seed of the random weights.")]
Save = Annotated[str | None, typer.Option("--save", metavar="FILE", help="Draw into FILE.svg, .png or .pdf.")]


def explain(
    topic: Words = None,
    x: X = None,
    sublayer: Sublayer = None,
    shape: Shape = None,
    axis: options.Axis = None,
    depth: Depth = None,
    width: Width = None,
    seed: Seed = None,
    save: Save = None,
    format: Annotated[
        Literal["text", "markdown", "json"], typer.Option("-f", "--format", help="How to write it.")
    ] = "text",
    json: options.Json = False,
    ascii: options.Ascii = False,
) -> int:
    """Show a topic, its numbers computed as you read."""
    from lnorm_cli.errors import InputError
    from lnorm_cli.explain.demos.arguments import Options
    from lnorm_cli.explain.topics import find, topics

    wanted = "json" if json else format
    progress = Progress() if sys.stderr.isatty() else None
    asked = Options(x, sublayer, shape, axis, depth, width, seed, progress=progress)
    if not topic and shape is None:
        without_topic = sorted(asked.given | ({"save"} if save is not None else set()))
        if without_topic:
            flag = f"--{without_topic[0]}"
            raise InputError(f"{flag} needs a topic", hint=f"such as: lnorm explain prenorm {flag} ...")
        _write_list(topics(), wanted, ascii)
        return 0
    chosen = find(" ".join(topic)) if topic else find("axes")
    from lnorm_cli.explain.page import page, save_stacks

    try:
        made = page(chosen, asked)
        if save is not None:
            save_stacks(chosen, asked, save)
    finally:
        if progress is not None:
            progress.clear()
    _write(made, wanted, ascii)
    if save is not None:
        print(f"drawn into {save}", file=sys.stderr)
    return 0


class Progress:
    """A bar on stderr, once a run has lasted long enough for someone to wonder."""

    PATIENCE = 0.5
    WIDTH = 24

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.shown = False

    def __call__(self, done: int, total: int) -> None:
        """Show `done` of `total` layers."""
        if time.monotonic() - self.begun < self.PATIENCE:
            return
        filled = self.WIDTH * done // max(total, 1)
        bar = "#" * filled + "." * (self.WIDTH - filled)
        print(f"\r{bar} {done}/{total} layers ", end="", file=sys.stderr, flush=True)
        self.shown = True

    def clear(self) -> None:
        """Take the bar away."""
        if self.shown:
            print(f"\r{' ' * (self.WIDTH + 30)}\r", end="", file=sys.stderr, flush=True)


def _write_list(topics: tuple[Topic, ...], format: str, ascii: bool) -> None:
    from lnorm_cli.render.terminal import Terminal

    if format == "text":
        from lnorm_cli.explain.show import show_list

        show_list(Terminal(ascii=ascii), topics)
        return
    from lnorm_cli.explain.machine import list_json, list_markdown

    sys.stdout.write((list_json(topics) if format == "json" else list_markdown(topics)) + "\n")


def _write(made: Page, format: str, ascii: bool) -> None:
    from lnorm_cli.render.terminal import Terminal, spelled

    if format == "json":
        from lnorm_cli.explain.machine import page_json

        sys.stdout.write(page_json(made) + "\n")
        return
    terminal = Terminal(ascii=ascii)
    if format == "markdown":
        from lnorm_cli.explain.machine import page_markdown

        text = page_markdown(made)
        sys.stdout.write((spelled(text) if terminal.ascii else text) + "\n")
        return
    from lnorm_cli.explain.show import show_page

    show_page(terminal, made)
