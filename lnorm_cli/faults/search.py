"""Which faults explain an answer: every single one, then pairs, then threes; in float64 first, then exactly.

Specs that differ only in gamma and beta share one float64 trace: its normalized values are multiplied out for every
way that gamma and beta may enter. That only sifts; what is left is verified by its own trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.errors import InputError
from lnorm_cli.faults.candidates import Candidate, Piece, combine, pieces, together
from lnorm_cli.faults.condition import divisor_of
from lnorm_cli.faults.problem import Problem
from lnorm_cli.norm import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

_BLOCK = 4_000_000
"""Most numbers held at once while sifting."""

MOST_FAULTS = 3


@dataclass(frozen=True)
class _Way:
    """One way for gamma and beta to enter, flat and in the shape of x."""

    piece: Piece | None
    factor: Array
    term: Array
    term_first: bool


@dataclass(frozen=True)
class _Stack:
    """Candidates with their normalized values, one a line, and how far rounding may move these."""

    normalized: Array
    loose: Any
    candidates: list[Candidate]


def explanations(problem: Problem, most: int = MOST_FAULTS) -> list[Candidate]:
    """The candidates with the fewest faults that fit the answer, all with equally many; empty when none does."""
    return next((found for found in levels(problem, most) if found), [])


def levels(problem: Problem, most: int = MOST_FAULTS) -> Iterator[list[Candidate]]:
    """The candidates that fit with one fault, with two, with three; each level is worked out once for a problem."""
    done: list[list[Candidate]] = problem.memo.setdefault("levels", [])
    if "ways" not in problem.memo:
        statistics, affine = pieces(problem.spec, problem.x.shape, problem.eps)
        problem.memo["pieces"] = statistics
        problem.memo["ways"] = _ways(problem, affine if problem.step == "output" else [])
        problem.memo["stack"] = _stack(problem, [Candidate((), problem.spec, problem.eps)])
    for count in range(1, most + 1):
        if len(done) < count:
            done.append(_level(problem, count))
        yield done[count - 1]


def _level(problem: Problem, count: int) -> list[Candidate]:
    """So many faults: all of them in the statistics, or one in gamma and beta and the others as at the level before."""
    ways: list[_Way] = problem.memo["ways"]
    sifted = _sift(problem, problem.memo["stack"], [way for way in ways[1:] if _credible(way, problem, count)])
    candidates = list(together(problem.memo["pieces"], problem.spec, problem.eps, count))
    if problem.step != "output":
        return _verified(problem, candidates)
    size = max(1, _BLOCK // problem.x.size)
    found = list(sifted)
    problem.memo["stack"] = _stack(problem, [])
    for start in range(0, len(candidates), size):
        block = _stack(problem, candidates[start : start + size])
        found.extend(_sift(problem, block, ways[:1]))
        if len(candidates) <= size:  # small enough to be kept for the next level
            problem.memo["stack"] = block
    return _verified(problem, found)


def _credible(way: _Way, problem: Problem, count: int) -> bool:
    """Where every gamma is 1, "1 + gamma" only doubles: beside another fault it would explain anything."""
    import numpy as np

    assert way.piece is not None
    return count == 1 or way.piece.id != "one-plus-gamma" or bool(np.any(problem.floats[1] != 1))


def _verified(problem: Problem, candidates: Iterable[Candidate]) -> list[Candidate]:
    found: dict[Any, Candidate] = {}
    for candidate in candidates:
        try:
            fits = problem.fits(candidate.spec, candidate.eps)
        except InputError:
            continue
        if fits:
            found.setdefault((candidate.ids, candidate.details), candidate)
    return sorted(found.values(), key=lambda candidate: candidate.rarity)


def _ways(problem: Problem, affine: Sequence[Piece]) -> list[_Way]:
    import numpy as np

    ways = []
    for piece in (None, *affine):
        candidate = combine([piece] if piece else [], problem.spec, problem.eps)
        assert candidate is not None
        t = problem.run(candidate.spec)
        whole = t["x"].value.shape
        gamma, beta = (
            t.layout.restore(np.broadcast_to(t.parameters[name], whole)).ravel() for name in ("gamma", "beta")
        )
        ways.append(_Way(piece, gamma, beta, candidate.spec.affine == "shift-scale"))
    return ways


def _sift(problem: Problem, stack: _Stack, ways: Sequence[_Way]) -> Iterator[Candidate]:
    """The candidates of a stack, each in each way, that come near the answer in float64."""
    import numpy as np

    if not stack.candidates:
        return
    given = problem.answer.values.ravel()
    room = problem.answer.slack.ravel() * (1 + 1e-9)
    unit = problem.answer.unit or 0.0
    odd = ~np.isfinite(given)
    with np.errstate(all="ignore"):
        for way in ways:
            scaled = stack.normalized * way.factor
            output = (stack.normalized + way.term) * way.factor if way.term_first else scaled + way.term
            terms = np.abs(scaled) + 2 * np.abs(way.term) + np.abs(output)
            allowed = room + (8 * unit + 2.0**-44) * terms + np.abs(way.factor) * stack.loose
            near = np.abs(output - given) <= np.where(np.isfinite(allowed), allowed, 0.0)
            if odd.any():
                near |= odd & ((np.isnan(output) & np.isnan(given)) | (output == given))
            for index in np.flatnonzero(near.all(axis=1)):
                parts = [*stack.candidates[index].pieces, *([way.piece] if way.piece else [])]
                whole = combine(parts, problem.spec, problem.eps)
                if whole is not None:
                    yield whole


def _stack(problem: Problem, candidates: Sequence[Candidate]) -> _Stack:
    """The normalized values of each candidate, flat, with what rounding may do to them."""
    import numpy as np

    normalized, loose, kept = [], [], []
    for candidate in candidates:
        try:
            t = problem.run(candidate.spec, None, candidate.eps)
        except InputError:
            continue
        kept.append(candidate)
        normalized.append(_flat(t, t["normalized"].value))
        if problem.answer.unit is not None:
            loose.append(_flat(t, _loose(t, problem.answer.unit)))
    if not kept:
        return _Stack(np.zeros((0, problem.x.size)), 0.0, [])
    stacked = np.stack(normalized)
    if loose:
        return _Stack(stacked, np.stack(loose), kept)
    with np.errstate(all="ignore"):  # typed numbers: only the rounding of this sieve itself
        largest = np.max(np.where(np.isfinite(stacked), np.abs(stacked), 0.0), axis=1, keepdims=True)
    return _Stack(stacked, 2.0**-48 * _offset(problem) * largest, kept)


def _offset(problem: Problem) -> float:
    """1 + the largest |x| over the range of x: how much of a deviation float64 may lose."""
    import numpy as np

    x = problem.floats[0]
    spread = float(np.max(x) - np.min(x))
    return 1.0 + (float(np.max(np.abs(x))) / spread if spread > 0 else 0.0)


def _flat(t: Trace, rows: Array) -> Array:
    import numpy as np

    return t.layout.restore(np.broadcast_to(rows, t["x"].value.shape)).ravel()


def _loose(t: Trace, unit: float) -> Array:
    """More than `condition.allowance` gives, at less cost: it only sifts."""
    import numpy as np

    with np.errstate(all="ignore"):
        n = t.layout.n
        reach = np.abs(t["x"].value).max(axis=-1, keepdims=True) / np.abs(divisor_of(t))
        roundings = 32 + 4 * n**0.5 + n / 4
        shift = roundings * unit * reach
        amplified = 1 + np.minimum(np.nan_to_num(reach, nan=10.0, posinf=10.0), 10.0) ** 2
        scale = roundings * unit * amplified + shift**2
        return np.asarray(shift + np.abs(t["normalized"].value) * scale)
