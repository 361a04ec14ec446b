"""Sentences of a diagnosis: how numbers were compared, what an input hides, which input would tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.arithmetic import Float
from lnorm_cli.errors import InputError
from lnorm_cli.faults.candidates import Candidate
from lnorm_cli.faults.catalogue import fault
from lnorm_cli.faults.problem import Problem
from lnorm_cli.norm import Spec, Trace, trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

_ROWS: tuple[tuple[str, ...], ...] = (
    ("1", "2", "4"),
    ("0", "1", "5"),
    ("1", "3", "4", "9"),
    ("0.001", "0.002", "0.005"),
    ("10", "11", "14", "19"),
)
_MATRICES = ((("1", "2", "4"), ("3", "5", "9"), ("8", "0", "1")), (("1", "2"), ("4", "8")))
_GAMMA, _BETA = ("2", "3", "0.5", "1.5"), ("1", "-1", "0.25", "3")
_APART = 0.02


def joined(ids: Sequence[str]) -> str:
    """One name for faults that act together."""
    return "+".join(ids)


def happened(candidate: Candidate, spec: Spec) -> str:
    """One sentence for each fault of the candidate."""
    return " ".join(fault(name).sentence(spec) for name in candidate.ids)


def how_compared(problem: Problem) -> str:
    """The rule by which the answer was set against results."""
    answer = problem.answer
    if answer.unit is None:
        if problem.exactly:
            return (
                "each number at the digits typed: half a unit of its last digit, limits included, in exact arithmetic"
            )
        return "each number at the digits typed: half a unit of its last digit, limits included"
    import numpy as np

    t = problem.run(problem.spec)
    room = problem.granted(t)
    finite = room[np.isfinite(room)]
    largest = f", here up to {float(finite.max()):.2g}" if finite.size else ""
    return (
        f"{answer.dtype}, unit roundoff {answer.unit:.3g}, times what {t.layout.n} features and the size of x "
        f"against its spread make of it{largest}"
    )


def first_difference(right: Trace, wrong: Trace) -> str:
    """The first step of the right trace that the wrong one lacks or has with other values."""
    import numpy as np

    if wrong.layout != right.layout:
        return right.steps[1].name
    if wrong.spec.spread == "one-pass" and "variance" in right:
        return "variance"
    if wrong.spec.pool == "column":
        return "deviation" if "deviation" in right else "normalized"
    unit = getattr(wrong.arithmetic, "unit", 0.0)
    for step in right.steps:
        if step.name not in wrong:
            return step.name
        values = wrong[step.name].value.astype(np.float64)
        if values.shape != step.value.shape:  # a pool of other length: its mean is what tells
            continue
        with np.errstate(all="ignore"):
            room = max(1e-13, 8 * unit) * (np.abs(step.value) + np.abs(values))
            same = (np.isfinite(room) & (np.abs(step.value - values) <= room)) | (step.value == values)
        if not np.all(same | (np.isnan(step.value) & np.isnan(values))):
            return step.name
    return ""


def hidden(problem: Problem, fitting: Sequence[Candidate]) -> tuple[str, ...]:
    """What a right answer on this x cannot show, and a row that would."""
    names = [name for c in fitting for name in c.ids if fault(name).group == "statistics" or name == "sign-flipped"]
    notes = []
    if names:
        why = _why(problem)
        row = separating([c for c in fitting if c.ids[0] in names], problem.spec, problem.eps)
        shown = ", ".join(dict.fromkeys(names[:5])) + (" and more" if len(set(names)) > 5 else "")
        notes.append(f"This x{why} cannot show: {shown}." + (f" {row} would." if row else ""))
    if any(c.ids == ("epsilon-omitted",) for c in fitting):
        notes.append("Epsilon does not show in these digits: another epsilon, or none, gives the same numbers.")
    return tuple(notes)


def _why(problem: Problem) -> str:
    import numpy as np

    t = problem.run(problem.spec)
    spread = t["variance"].value if "variance" in t else t["mean_square"].value
    if t.layout.n == 1:
        return " (one feature)"
    if "variance" in t and np.all(spread == 0):
        return " (constant)"
    reasons = []
    if "mean" in t and np.all(np.abs(t["mean"].value) <= 1e-12 * np.abs(t["x"].value).max()):
        reasons.append("mean 0")
    if np.all(np.abs(spread - 1) < 1e-9):
        reasons.append("variance 1" if "variance" in t else "mean square 1")
    return f" ({', '.join(reasons)})" if reasons else ""


def separating(candidates: Sequence[Candidate], spec: Spec, eps: Any) -> str:
    """A short input on which the candidates and the right Spec all give different numbers, in words; or ""."""
    if len(candidates) < 1:
        return ""
    rank_two = any("axes" in piece.touched or "pool" in piece.touched for c in candidates for piece in c.pieces)
    rank_two = rank_two and all(max(max(c.spec.axes), -min(c.spec.axes) - 1) < 2 for c in candidates)
    with_affine = any("affine" in piece.touched for c in candidates for piece in c.pieces)
    specs = list(dict.fromkeys([(c.spec, c.eps) for c in candidates] + [(spec, eps)]))
    for x in (*_MATRICES, *_ROWS) if rank_two else _ROWS:
        n = len(x[0]) if isinstance(x[0], tuple) else len(x)
        gamma, beta = (_GAMMA[:n], _BETA[:n]) if with_affine else (("1",) * n, ("0",) * n)
        if _all_apart(x, gamma, beta, specs):
            text = _nested(x)
            more = f" with gamma {' '.join(gamma)} and beta {' '.join(beta)}" if with_affine else ""
            return f"x = {text}{more}"
    return ""


def _nested(x: Sequence[Any]) -> str:
    if isinstance(x[0], tuple):
        return "[" + ", ".join("[" + ", ".join(row) + "]" for row in x) + "]"
    return " ".join(x)


def _all_apart(x: Any, gamma: Any, beta: Any, specs: Sequence[tuple[Spec, Any]]) -> bool:
    import numpy as np

    outputs = []
    for spec, eps in specs:
        try:
            t = trace(np.array(x), spec, Float(), gamma=np.array(gamma), beta=np.array(beta), eps=eps)
        except InputError:
            return False
        outputs.append(t.output.ravel())
    for i, one in enumerate(outputs):
        for other in outputs[:i]:
            with np.errstate(all="ignore"):
                if not np.max(np.abs(one - other)) > _APART * np.max(np.abs(one)):
                    return False
    return True


def number(value: float, digits: int = 6) -> str:
    """A number for a sentence: six significant digits."""
    return f"{value:.{digits}g}"


def apart(first: float, second: float) -> tuple[str, str]:
    """Two different numbers with as many digits as it takes to see that they differ, alike many of both."""
    texts = number(first), number(second)
    for digits in range(7, 18):
        if texts[0] != texts[1] or first == second:
            break
        texts = f"{first:#.{digits}g}", f"{second:#.{digits}g}"
    return texts


def decimal(value: Fraction) -> str:
    """A short exact decimal, or six significant digits."""
    text = f"{float(value):.10g}"
    return text if Fraction(text) == value else number(float(value))


MOST_PLACES = 6
"""Places named in one sentence."""


def some(places: Sequence[str]) -> str:
    """The first of them, and whether there are more."""
    return ", ".join(places[:MOST_PLACES]) + (", ..." if len(places) > MOST_PLACES else "")


def outputs(indices: Iterable[Sequence[int]]) -> list[str]:
    """`y[1, 0]` for each index."""
    return [f"y[{index_text(index)}]" for index in indices]


def right_ones(indices: Iterable[Sequence[int]]) -> tuple[str, ...]:
    """A sentence that names the elements that are right, as evidence; none where there are none."""
    named = outputs(indices)
    return (f"Right as they stand: {some(named)}.",) if named else ()


def index_text(index: Sequence[int]) -> str:
    """`1, 0`."""
    return ", ".join(map(str, index))
