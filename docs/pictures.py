"""Draw the README's pictures from real runs: python docs/pictures.py (writes docs/img/*.svg).

Each picture is what the command prints on an 80-column terminal; the SVG names only fonts that are on every
machine, and loads nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

IMAGES = Path(__file__).parent / "img"
PICTURES = {
    "compute": ["compute", "2", "4", "4", "6"],
    "diagnose": ["diagnose", "2", "4", "4", "6", "--given", "-1.2247", "0", "0", "1.2247"],
    "explain": ["explain", "rmsnorm"],
}
THEME = TerminalTheme(
    (250, 250, 247),
    (40, 42, 54),
    [
        *((40, 42, 54), (176, 32, 48), (24, 122, 60), (150, 100, 0)),
        *((30, 90, 180), (140, 60, 150), (0, 120, 140), (90, 90, 90)),
    ],
)
SVG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" xml:space="preserve">
<title>TITLE</title>
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
<rect width="{width}" height="{height}" rx="8" fill="#fafaf7" stroke="#d8d8d0"/>
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def output(arguments: list[str]) -> str:
    """What the command prints in colour on 80 columns."""
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": "80", "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "lnorm_cli", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=environment, check=False)
    return done.stdout


def draw(name: str, arguments: list[str]) -> str:
    """The SVG of one command and its output."""
    console = Console(record=True, width=80, file=StringIO(), color_system="truecolor", force_terminal=True)
    quoted = [f'"{argument}"' if " " in argument else argument for argument in arguments]
    console.print(Text(f"$ lnorm {' '.join(quoted)}", style="bold"))
    console.print(Text.from_ansi(output(arguments)))
    return console.export_svg(theme=THEME, code_format=SVG.replace("TITLE", f"lnorm {name}"), unique_id=f"lnorm-{name}")


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    for name, arguments in PICTURES.items():
        (IMAGES / f"{name}.svg").write_text(draw(name, arguments), encoding="utf-8")


if __name__ == "__main__":
    main()
