"""Attention's part: the size of scores, the softmax, masks, order; and a whole block."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli import exact, lab
from lnorm_cli.arithmetic import Float
from lnorm_cli.explain.content import Note, Result, Table
from lnorm_cli.explain.demos.arguments import Arguments
from lnorm_cli.explain.demos.values import apart
from lnorm_cli.norm import trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

SAMPLES = 2000


def scores(arguments: Arguments) -> Sequence[Result]:
    """Spread of dot products of random queries and keys, before and after the division by sqrt(d_k)."""
    import numpy as np

    random = np.random.default_rng(arguments.integer("seed", 0, least=0))
    rows = []
    for width in map(int, arguments.list("widths")):
        queries, keys = random.standard_normal((2, SAMPLES, width))
        products = (queries * keys).sum(axis=1)
        rows.append((width, _spread(products), _spread(products / width**0.5)))
    caption = f"Spread of {SAMPLES} scores of random vectors:"
    return [Table(("key width", "scores", "divided by root"), tuple(rows), caption)]


def _spread(values: Array) -> float:
    return float(trace(values, arithmetic=Float(), eps=0)["standard_deviation"].value[0, 0])


def block(arguments: Arguments) -> Sequence[Result]:
    """A Pre-LN block with several heads, stage by stage."""
    heads = int(arguments.text("heads", "8"))
    done = lab.block(
        tokens=int(arguments.text("tokens", "10")),
        width=arguments.integer("width", 64),
        hidden=int(arguments.text("hidden", "256")),
        heads=heads,
        seed=arguments.integer("seed", lab.SEED, least=0),
    )
    rows = tuple((stage.name, " x ".join(map(str, stage.shape)), stage.size) for stage in done.stages)
    sums = done.attention.sum(axis=-1)
    return [
        Table(("stage", "shape", "mean square"), rows),
        Note(f"{heads} heads of width {done.split} each. Every token's attention weights sum to one "
             f"(largest deviation {abs(sums - 1).max():.1g})."),
    ]  # fmt: skip


def softmax(arguments: Arguments) -> Sequence[Result]:
    """The softmax of shifted scores, by the plain formula and with the maximum subtracted."""
    import numpy as np

    given = np.array([exact.to_float(value) for value in arguments.vector()])
    rows = []
    for shift in map(Fraction, arguments.list("add")):
        shifted = given + float(shift)
        with np.errstate(all="ignore"):
            powers = np.exp(shifted)
            plain = powers / powers.sum()
        label = " ".join(f"{value:g}" for value in shifted)
        rows.append((label, tuple(plain.tolist()), tuple(lab.softmax(shifted).tolist())))
    return [Table(("scores", "plain", "maximum subtracted"), tuple(rows))]


def mask(arguments: Arguments) -> Sequence[Result]:
    """Attention weights with one position unmasked, set to 0, and set to a large negative number."""
    import numpy as np

    given = np.array([exact.to_float(value) for value in arguments.vector()])
    hidden = int(arguments.text("hide")) - 1
    rows = []
    for label, score in (("not masked", given[hidden]), ("score 0", 0.0), ("score -1e9", -1e9)):
        changed = given.copy()
        changed[hidden] = score
        rows.append((label, tuple(lab.softmax(changed).tolist())))
    head = (f"position {hidden + 1} of {len(given)}", "attention weights")
    return [Table(head, tuple(rows), f"Scores {' '.join(arguments.words)}:")]


def shuffle(arguments: Arguments) -> Sequence[Result]:
    """Self-attention of shuffled tokens beside its shuffled output, without and with positions."""
    import numpy as np

    tokens, width = (int(arguments.text(key)) for key in ("tokens", "width"))
    heads = int(arguments.text("heads"))
    random = np.random.default_rng(0)
    x, positions = random.standard_normal((2, tokens, width))
    order = np.roll(np.arange(tokens), 1)
    rows = []
    for label, added in (("no positions", 0 * positions), ("positions added", positions)):
        straight = lab.attention(x + added, heads=heads)
        shuffled = lab.attention(x[order] + added, heads=heads)
        rows.append((label, apart(shuffled, straight[order]) < 1e-12, apart(shuffled, straight[order])))
    words = tuple((label, "the same" if same else "different", difference) for label, same, difference in rows)
    return [Table(("shuffled tokens", "same outputs?", "largest difference"), words)]
