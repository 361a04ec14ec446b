"""One row, one thing wrong at a time: how far the output moves."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from lnorm_cli.arithmetic import Float
from lnorm_cli.explain.content import Cell, Result, Table
from lnorm_cli.explain.demos.arguments import Arguments
from lnorm_cli.explain.demos.values import apart
from lnorm_cli.norm import LAYER, RMS, Spec, trace

CAPTION = "Largest change of the output (fresh: gamma 1, beta 0):"

SLIPS: tuple[tuple[str, Spec], ...] = (
    ("variance by n − 1", Spec(divisor="n-1")),
    ("sum instead of mean", Spec(divisor="1")),
    ("root forgotten", Spec(power=Fraction(1))),
    ("not centred", Spec(numerator="raw")),
    ("RMSNorm instead", RMS),
    ("eps outside the root", Spec(epsilon="outside")),
    ("gamma left out", Spec(affine="gamma-omitted")),
    ("beta left out", Spec(affine="beta-omitted")),
    ("beta before gamma", Spec(affine="shift-scale")),
)

PORTING: tuple[tuple[str, Spec], ...] = (
    ("RMSNorm for LayerNorm", RMS),
    ("variance by n − 1", Spec(divisor="n-1")),
    ("gamma taken as 1 + gamma", Spec(affine="one-plus-gamma")),
    ("gamma left out", Spec(affine="gamma-omitted")),
    ("beta left out", Spec(affine="beta-omitted")),
)


def slips(arguments: Arguments) -> Sequence[Result]:
    """The usual slips in writing a layer_norm, on trained and on fresh gamma and beta."""
    return [_differences(arguments, SLIPS, "slip")]


def port_faults(arguments: Arguments) -> Sequence[Result]:
    """What gets lost in porting, on trained and on fresh gamma and beta."""
    table = _differences(arguments, PORTING, "fault")
    x, gamma, beta = arguments.vector(), arguments.vector("gamma"), arguments.vector("beta")
    trained, fresh = (
        apart(trace(x, arithmetic=Float(), eps=Fraction(1, 1000), gamma=g, beta=b).output,
              trace(x, arithmetic=Float(), gamma=g, beta=b).output)
        for g, b in ((gamma, beta), (1, 0))
    )  # fmt: skip
    return [Table(table.head, (("eps 1e-3 for 1e-5", trained, fresh), *table.rows), table.caption)]


def _differences(arguments: Arguments, faults: Sequence[tuple[str, Spec]], name: str) -> Table:
    x, gamma, beta = arguments.vector(), arguments.vector("gamma"), arguments.vector("beta")
    rows: list[tuple[Cell, ...]] = []
    for label, spec in faults:
        differences = []
        for g, b in ((gamma, beta), (1, 0)):
            right, wrong = (trace(x, s, Float(), gamma=g, beta=b).output for s in (LAYER, spec))
            differences.append(apart(right, wrong))
        rows.append((label, *differences))
    return Table((name, "trained", "fresh"), tuple(rows), CAPTION)
