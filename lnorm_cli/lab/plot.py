"""A figure of runs: gradients and activations by layer, on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lnorm_cli.errors import InputError
from lnorm_cli.lab.runs import Run

UNDATED: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": "lnorm"},
    ".png": {"Software": "lnorm"},
    ".pdf": {"CreationDate": None, "Creator": "lnorm", "Producer": "lnorm"},
}
"""What each format is told of itself: nothing that changes from one run to the next."""

STYLES = ("-", "--", "-.", ":")
MARKS = "osD^vPX*"


def save(runs: Sequence[Run], path: str | Path) -> None:
    """Draw `runs` into `path`; the same runs give the same bytes.

    InputError for a suffix other than .svg, .png and .pdf, a missing matplotlib, or a place that cannot be
    written.
    """
    target = Path(path)
    if target.suffix.lower() not in UNDATED:
        raise InputError(f"{target.name} does not end in a known kind of figure", hint="end it in .svg, .png or .pdf")
    figure_module = _matplotlib()
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # a figure looks alike whatever the reader's own settings are
        matplotlib.rcParams.update({"svg.hashsalt": "lnorm", "pdf.compression": 6})
        figure = draw(figure_module.Figure(figsize=(12, 4), layout="constrained"), runs)
        try:
            figure.savefig(target, metadata=UNDATED[target.suffix.lower()], dpi=150)
        except OSError as error:
            raise InputError(f"{target} cannot be written: {error.strerror or error}") from None
        except ValueError as error:
            if "\0" not in str(target):
                raise
            raise InputError(f"{target} cannot be written: {error}") from None


def draw(figure: Any, runs: Sequence[Run]) -> Any:
    """Three panels with one line a run, told apart by colour, dash and mark."""
    weights, stream, sizes = figure.subplots(1, 3)
    for index, run in enumerate(runs):
        style = {"linestyle": STYLES[index % len(STYLES)], "marker": MARKS[index % len(MARKS)], "markersize": 4}
        weights.plot(range(1, run.depth + 1), run.gradients, label=run.kind, **style)
        stream.plot(range(run.depth + 1), run.signals, label=run.kind, **style)
        sizes.plot(range(run.depth + 1), run.activations, label=run.kind, **style)
    weights.set(title="gradient of each layer's output matrix", ylabel="Frobenius norm")
    stream.set(title="gradient on the stream", ylabel="norm")
    sizes.set(title="activations", ylabel="E|x|² / width")
    for panel in (weights, stream, sizes):
        panel.set(yscale="log", xlabel="layer")
        panel.grid(alpha=0.3)
    sizes.legend()
    if runs:
        first = runs[0].setting
        what = {"ffn": "feed-forward sublayers", "attention": "attention sublayers", "both": "whole layers"}
        title = f"{what[first.sublayer]} at initialization: depth {first.depth}, width {first.width}, seed {first.seed}"
        figure.suptitle(title, fontsize=10)
    return figure


def _matplotlib() -> Any:
    try:
        import matplotlib.figure
    except ImportError:
        raise InputError(
            "a figure needs matplotlib, which is not installed",
            hint="install it beside lnorm: python -m pip install matplotlib (the extra plot holds it)",
        ) from None
    return matplotlib.figure
