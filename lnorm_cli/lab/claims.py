"""What papers say about where the norm sits, set against runs at initialization.

A claim about training can at most show, or not show, before any training; its note says what was stated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lnorm_cli.errors import InputError
from lnorm_cli.lab import evidence
from lnorm_cli.lab.evidence import Bench, Verdict
from lnorm_cli.lab.runs import MOST_DEPTH, SEED, WIDTH, Progress, depths

CLAIM_DEPTHS = (6, 12, 24)
THEOREM_1 = "Theorem 1: upper bounds, at initialization, for the last feed-forward matrix only"
LEMMA_2 = "Lemma 2, for the expectation at initialization"


@dataclass(frozen=True)
class Claim:
    """One row: what is said and by whom, what was measured, and whether that shows it."""

    id: str
    claim: str
    source: str
    measured: str
    reproduced: bool
    note: str
    setup: str


@dataclass(frozen=True)
class Statement:
    """A claim before it is measured; `kinds` are the stacks that `judge` wants at every depth."""

    id: str
    claim: str
    source: str
    note: str
    kinds: tuple[str, ...]
    judge: Callable[[Bench], Verdict]


STATEMENTS = (
    Statement(
        "last-layer",
        "Post-LN: the gradient of the last feed-forward matrix does not shrink with depth",
        "xiong2020",
        THEOREM_1,
        ("post",),
        evidence.post_last_layer,
    ),
    Statement(
        "last-layer",
        "Pre-LN: that gradient falls as 1 / sqrt(L)",
        "xiong2020",
        THEOREM_1,
        ("pre",),
        evidence.pre_last_layer,
    ),
    Statement(
        "post-size",
        "Post-LN: E|x|^2 / d of the feed-forward part's sum, before its norm, is 3/2 at every layer",
        "xiong2020",
        LEMMA_2,
        (),
        evidence.post_size,
    ),
    Statement(
        "pre-size",
        "Pre-LN: E|x|^2 / d behind layer l is between 1 + l/2 and 1 + 3l/2",
        "xiong2020",
        f"{LEMMA_2}; the feed-forward part alone adds 1/2 a layer, which is the lower bound",
        (),
        evidence.pre_size,
    ),
    Statement(
        "early-late",
        "Pre-LN: early layers get larger gradients than late ones",
        "shleifer2021",
        "stated of pretraining, in the abstract; measured here before any training",
        ("pre",),
        evidence.early_late,
    ),
    Statement(
        "early-decay",
        "Post-LN: towards the early layers the gradient decays geometrically",
        "xiong2020",
        f"an argument in the appendix; a factor below {evidence.DECAY} a layer would count. At initialization"
        " each norm divides by what the sum has grown by, and the branch gives the gradient as much back",
        ("post",),
        evidence.early_decay,
    ),
    Statement(
        "identity-path",
        "With identity shortcuts the gradient reaches every layer; without, it is a product that vanishes",
        "he2016",
        "stated of residual networks; with nothing to normalize the sums, it is the gradient that grows",
        ("none", "residual"),
        evidence.identity_path,
    ),
    Statement(
        "final-norm",
        "Pre-LN needs a final norm: without it the output grows with depth",
        "xiong2020",
        "the paper's Pre-LN ends with that norm. Without it the last layer's gradient is flat, so Pre-LN's"
        " 1 / sqrt(L) is the final norm's doing",
        ("pre", "pre-no-final"),
        evidence.final_norm,
    ),
    Statement(
        "pre-growth",
        "Pre-LN: the size of the stream grows exponentially with depth",
        "kim2025",
        "the paper's claim, about training; at initialization the growth is linear, as Lemma 2 has it",
        ("pre",),
        evidence.pre_growth,
    ),
    Statement(
        "peri-growth",
        "Peri-LN (sandwich): the size of the stream grows linearly with depth",
        "kim2025",
        "each update has size 1 by its own norm, however large the weights; at initialization that is faster"
        " than Pre-LN's growth",
        ("sandwich",),
        evidence.peri_growth,
    ),
    Statement(
        "deepnorm-step",
        "DeepNorm: how far a step of training moves the model is bounded, whatever the depth",
        "wang2022",
        "the paper bounds the change of the output; measured is the first-order change of a linear loss",
        ("deepnorm", "post"),
        evidence.deepnorm_step,
    ),
)
CLAIMS = tuple(dict.fromkeys(statement.id for statement in STATEMENTS))
"""The names that `claims` takes, in order; "last-layer" stands for two rows."""


def claims(
    which: Sequence[str] = (), *, width: int = WIDTH, seed: int = SEED, depths: Sequence[int] = CLAIM_DEPTHS,
    seeds: int = 1, progress: Progress | None = None,
) -> tuple[Claim, ...]:  # fmt: skip
    """Measure the claims named in `which` (none: all), on means over `seeds` seeds from `seed` on.

    InputError for an unknown name, or for runs that the lab does not take.
    """
    for name in which:
        if name not in CLAIMS:
            raise InputError(f"there is no claim {name!r}", hint="one of " + ", ".join(CLAIMS))
    if not depths or seeds < 1:
        raise InputError("claims are measured on one depth and one seed at least", hint="such as depths 6, 12, 24")
    chosen = [statement for statement in STATEMENTS if not which or statement.id in which]
    bench = Bench(tuple(sorted(set(depths))), width, tuple(range(seed, seed + seeds)))
    kinds = list(dict.fromkeys(kind for statement in chosen for kind in statement.kinds))
    _prepare(bench, kinds, progress)
    rows = []
    for statement in chosen:
        measured, shown = statement.judge(bench)
        rows.append(
            Claim(statement.id, statement.claim, statement.source, measured, shown, statement.note, bench.setup)
        )
    return tuple(rows)


def claim_depths(depth: int) -> tuple[int, ...]:
    """Half of `depth`, `depth` and twice it: the depths to compare where one was asked for."""
    return tuple(sorted({max(1, depth // 2), depth, min(2 * depth, MOST_DEPTH)}))


def _prepare(bench: Bench, kinds: Sequence[str], progress: Progress | None) -> None:
    """Make the runs that claims share, with one progress over all of them; judging then finds them made."""
    for index, seed in enumerate(bench.seeds):
        report = None if progress is None else _part(progress, index, len(bench.seeds))
        depths(kinds, bench.depths, bench.width, seed, progress=report)


def _part(progress: Progress, index: int, parts: int) -> Progress:
    return lambda done, total: progress(index * total + done, parts * total)
