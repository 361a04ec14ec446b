"""What `lnorm diagnose` says about a whole output that no listed wrong path explains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from lnorm_cli.errors import InputError
from lnorm_cli.faults.catalogue import fault
from lnorm_cli.norm import Trace

CARRIED = Fraction(1, 2)
"""The mark of an answer with one early slip and right work from there on."""

Found = tuple[str, tuple[str, ...], Fraction]
"""A message, the faults, the mark."""


def diagnosed(run: Trace, texts: Sequence[str]) -> Found | None:
    """The mistake that gives these numbers in place of the output of `run`; None where none is known."""
    from lnorm_cli.faults import diagnose

    gamma, beta, eps = (run.parameters[name].reshape(-1) for name in ("gamma", "beta", "epsilon"))
    try:
        found = diagnose(
            run["x"].value[0],
            list(texts),
            gamma=gamma if gamma.size > 1 else gamma[0],
            beta=beta if beta.size > 1 else beta[0],
            eps=eps[0],
            spec=run.spec,
        )
    except (InputError, OverflowError):  # the latter: numbers beyond any float, which no mistake gives
        return None
    if found.verdict not in ("rounded", "wrong") or not found.faults or found.faults == ("arithmetic-slip",):
        return None
    sentences = [fault(name).sentence(run.spec) for name in found.faults]
    if found.implied and found.right and found.faults == ("carried-forward",):
        sentences.append(_implied(found.implied, found.right))
    sentences += [found.mend] if found.mend else []
    mark = {"rounded": Fraction(1)}.get(found.verdict, CARRIED if "carried-forward" in found.faults else Fraction(0))
    return " ".join(sentences), found.faults, mark


def _implied(implied: Mapping[str, float], right: Mapping[str, float]) -> str:
    """The mean and deviation that the numbers were made with, beside the right ones."""
    parts = [
        f"{name.replace('_', ' ')} {implied[name]:.4g} (it is {right[name]:.4g})"
        for name in implied
        if name in right and f"{implied[name]:.3g}" != f"{right[name]:.3g}"
    ]
    return f"Your numbers imply {' and '.join(parts)}." if parts else ""
