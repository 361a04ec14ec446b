"""The demos: small runs whose results a topic shows.

Each is a function of `Arguments` that returns tables, bars and notes. It computes only through `norm.trace`,
`backward` and the lab; it is imported when its block is run.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence

from lnorm_cli.errors import InputError
from lnorm_cli.explain.content import Result
from lnorm_cli.explain.demos.arguments import Arguments, Options

MODULES = {
    "row": ("steps", "divisor", "rescale", "rounding", "output-statistics", "affine-order", "layer-rms"),
    "letters": ("invariances",),
    "axes": ("shapes", "leak"),
    "batch": ("batch", "company", "modes"),
    "epsilon": ("epsilons", "constant", "libraries", "places"),
    "counting": ("parameters", "parameter-share"),
    "residual": ("residual", "chain", "placement", "final-norm"),
    "slips": ("slips", "port-faults"),
    "precision": ("limits", "precision", "one-pass", "remedy"),
    "gradient": ("jacobian", "backward-steps", "detached"),
    "stacks": (
        "lab-gradients", "lab-signals", "lab-activations", "lab-depths", "lab-ratio", "lab-final",
        "lab-table", "same-weights",
    ),
    "claims": ("lab-claims",),
    "attention": ("scores", "block", "softmax", "mask", "shuffle"),
    "variants": ("deepnorm", "dyt"),
}  # fmt: skip
"""Which module holds which demos."""

NAMES = {name: module for module, names in MODULES.items() for name in names}


def function(name: str) -> Callable[[Arguments], Sequence[Result]]:
    """The demo of that name."""
    if name not in NAMES:
        raise InputError(f"there is no demo {name!r}")
    module = importlib.import_module(f"lnorm_cli.explain.demos.{NAMES[name]}")
    found: Callable[[Arguments], Sequence[Result]] = getattr(module, name.replace("-", "_"))
    return found


def run(words: Sequence[str], options: Options | None = None) -> tuple[Result, ...]:
    """The results of a demo block: its name, then its arguments."""
    return tuple(function(words[0])(Arguments(words[1:], options)))
