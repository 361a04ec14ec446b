"""The placement lab: stacks of transformer sublayers run forward and backward, with the norm in every place.

    >>> from lnorm_cli import lab
    >>> post, pre = lab.compare(["post", "pre"], depth=6, width=16)
    >>> pre.activations[-1] > post.activations[-1]
    True

`layers` holds the layers and their backward passes, `stacks` the kinds of stack, `runs` the experiment,
`claims` the papers' statements beside what was measured.
"""

from lnorm_cli.lab.blocks import BlockRun, Stage, attention, block, dyt
from lnorm_cli.lab.claims import CLAIM_DEPTHS, CLAIMS, Claim, claim_depths, claims
from lnorm_cli.lab.counts import Counts, parameter_counts
from lnorm_cli.lab.layers import softmax
from lnorm_cli.lab.plot import save
from lnorm_cli.lab.runs import DEPTH, SEED, SETUP, TOKENS, WIDTH, Run, compare, depths, run
from lnorm_cli.lab.stacks import KINDS, SUBLAYERS, deepnorm_scales

__all__ = [
    "CLAIMS", "CLAIM_DEPTHS", "DEPTH", "KINDS", "SEED", "SETUP", "SUBLAYERS", "TOKENS", "WIDTH", "BlockRun",
    "Claim", "Counts", "Run", "Stage", "attention", "block", "claim_depths", "claims", "compare",
    "deepnorm_scales", "depths", "dyt", "parameter_counts", "run", "save", "softmax",
]  # fmt: skip
