"""Claims of papers, measured by the lab."""

from __future__ import annotations

from collections.abc import Sequence

from lnorm_cli import lab
from lnorm_cli.explain.content import Result, Verdict
from lnorm_cli.explain.demos.arguments import Arguments


def lab_claims(arguments: Arguments) -> Sequence[Result]:
    """Each claim, what was measured, and whether it was reproduced."""
    which = arguments.list("which")
    depth = arguments.options.take("depth")
    found = lab.claims(
        () if which == ["all"] else which,
        depths=lab.CLAIM_DEPTHS if depth is None else lab.claim_depths(depth),
        width=arguments.integer("width", lab.WIDTH),
        seed=arguments.integer("seed", lab.SEED, least=0),
        progress=arguments.options.progress,
    )
    return [
        Verdict(claim.claim, claim.source, claim.measured, claim.reproduced, claim.note, claim.setup) for claim in found
    ]
