"""`diagnose`: a problem, an answer, and what went wrong in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias

from lnorm_cli import exact
from lnorm_cli.arithmetic import Float, to_exact
from lnorm_cli.errors import InputError, UndefinedError
from lnorm_cli.faults import slips
from lnorm_cli.faults.answer import LARGE, Answer, make_answer
from lnorm_cli.faults.catalogue import fault
from lnorm_cli.faults.diagnosis import Diagnosis, Worst
from lnorm_cli.faults.finding import Finding
from lnorm_cli.faults.harmless import at_dtype
from lnorm_cli.faults.infer import Line, right_line
from lnorm_cli.faults.judge import find
from lnorm_cli.faults.problem import Problem, make_problem, place
from lnorm_cli.faults.words import first_difference, hidden, how_compared, separating
from lnorm_cli.norm import DEFAULT_EPS, LAYER, Spec, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

_OPENING = {
    "correct": "Correct.",
    "rounded": "Right, but for rounding on the way.",
    "wrong": "Wrong.",
    "undecided": "Undecided.",
}


P = ParamSpec("P")


def _quietly(judge: Callable[P, Diagnosis]) -> Callable[P, Diagnosis]:
    """Without numpy's warnings: numbers of the user that a dtype cannot hold are judged, not warned about."""

    @wraps(judge)
    def judged(*arguments: P.args, **named: P.kwargs) -> Diagnosis:
        import numpy as np

        with np.errstate(all="ignore"):
            return judge(*arguments, **named)

    return judged


@_quietly
def diagnose(
    x: Any,
    given: Any,
    *,
    gamma: Any = 1,
    beta: Any = 0,
    eps: Any = None,
    spec: Spec = LAYER,
    residual: Any = None,
    order: str | None = None,
    dtype: str | None = None,
    step: str = "output",
) -> Diagnosis:
    """Say whether `given` is the right answer for x, and if not, which mistake explains it.

    x: array-like of any rank (exact values, ints, floats, strings of the grammar). given: text, a list of such
    strings, exact values (compared at their digits) or a numpy float array (compared at its dtype), in the shape of
    x. With `dtype` x is rounded to it and the answer judged at its precision. `residual` and `order`: see
    `placement`. `step`: the step asked for, where it is not the output. Raises InputError for a problem that cannot be
    taken (not for an answer: that is `malformed`), UndefinedError where the right answer is 0/0 throughout.
    """
    try:
        answer = make_answer(given, dtype)
    except InputError as error:
        return malformed(f"The answer cannot be read: {error.what}.", error.hint)
    array = _array(x)
    epsilon = DEFAULT_EPS if eps is None else _array(eps).flat[0]
    if array.dtype != object:
        epsilon = exact.tidy(to_exact([epsilon])[0])
    epsilon = exact.tidy(to_exact([epsilon])[0])
    if residual is not None:
        from lnorm_cli.faults.block import diagnose_block

        return diagnose_block(array, answer, _array(residual), order or "post", gamma, beta, epsilon, spec, dtype)
    wrong_shape = check_shape(answer, array.shape if step == "output" else None)
    if wrong_shape is not None:
        return wrong_shape
    large = _large(array, answer, gamma, beta, epsilon, spec) if step == "output" else None
    if large is not None:
        return large
    problem = make_problem(array, answer, gamma, beta, epsilon, spec, step)
    return conclude(at_dtype(problem, dtype) if dtype else problem, symbolic_zero=eps is None)


@_quietly
def diagnose_arrays(
    x: Any, given: Any, *, gamma: Any = 1, beta: Any = 0, eps: Any = None, spec: Spec = LAYER, dtype: str | None = None
) -> Diagnosis:
    """`diagnose` for what code returned: numpy arrays, judged at `dtype` or else the coarser one of x and given."""
    import numpy as np

    from lnorm_cli.arithmetic import DTYPES

    names = [np.asarray(a).dtype.name for a in (x, given)]
    units = {name: Float(name).unit for name in DTYPES}
    chosen = dtype or max((name for name in names if name in DTYPES), key=units.__getitem__, default="float64")
    answer = make_answer(np.asarray(given), chosen)
    array = np.asarray(x)
    wrong_shape = check_shape(answer, array.shape)
    if wrong_shape is not None:
        return wrong_shape
    epsilon = exact.tidy(to_exact([DEFAULT_EPS if eps is None else eps])[0])
    large = _large(array, answer, gamma, beta, epsilon, spec)
    return large or conclude(make_problem(array, answer, gamma, beta, epsilon, spec))


def _large(array: Array, answer: Answer, gamma: Any, beta: Any, eps: exact.Exact, spec: Spec) -> Diagnosis | None:
    """The diagnosis of arrays too large to be held several times over; None for others."""
    from lnorm_cli.faults.stream import Stream, diagnose_large
    from lnorm_cli.layout import Layout

    layout = Layout(array.shape, spec.axes)
    if array.size < LARGE or answer.unit is None or not layout.kept:
        return None
    if array.dtype == object:
        array = Float().array(array)
    parameters = ((gamma, "gamma"), (beta, "beta"))
    scale, shift = (Float().array(place(value, name, array.shape, spec)) for value, name in parameters)
    return diagnose_large(Stream(array, answer.values, scale, shift, eps, spec, answer.dtype))


def _array(values: Any) -> Array:
    import numpy as np

    array = np.asarray(values)
    if array.dtype.kind in "OUiu":
        array = to_exact(array)
    return array.reshape(1) if array.ndim == 0 else array


def check_shape(answer: Answer, shape: tuple[int, ...] | None) -> Diagnosis | None:
    """A diagnosis of `malformed` where the answer has not the shape of x: nothing is ever broadcast."""
    given = answer.values.shape
    if answer.values.size == 0:
        return malformed("The answer is empty.", "give one number for each number of x")
    if shape is None or given == shape:
        return None
    if len(given) == 1 and len(shape) == 1:
        numbers = "number" if given[0] == 1 else "numbers"
        return malformed(
            f"The answer has {given[0]} {numbers}, x has {shape[0]}.", "give one number for each number of x"
        )
    return malformed(f"The answer has shape {given}, x has shape {shape}.", "give the answer in the shape of x")


def malformed(message: str, mend: str) -> Diagnosis:
    """Not an answer: nothing to be judged."""
    return Diagnosis("malformed", message, mend=mend)


def conclude(problem: Problem, *, symbolic_zero: bool = False) -> Diagnosis:
    """Judge the answer and put the finding into words and numbers."""
    require_defined(problem)
    found = find(problem)
    if symbolic_zero and "epsilon-omitted" in found.faults and problem.answer.symbolic:
        note = "The answer is exact for epsilon 0; name --eps to have epsilon judged as well."
        others = tuple(name for name in found.faults if name != "epsilon-omitted")
        found = replace(found, faults=others, candidates=(), notes=(*found.notes, note))
        found = found if others else Finding("correct", notes=(note,))
    return in_words(problem, found)


def require_defined(problem: Problem) -> None:
    """UndefinedError where every row of the right result is 0/0."""
    import numpy as np

    if problem.eps == 0 and problem.step == "output":
        t = problem.run(problem.spec)
        if np.isnan(t["normalized"].value).all() and np.isfinite(t["x"].value).all():
            raise UndefinedError(
                "every row is constant and epsilon is 0, so the right answer is 0/0: it does not exist",
                hint="with an epsilon above 0 the answer is beta",
            )


def in_words(problem: Problem, found: Finding) -> Diagnosis:
    """The diagnosis of a finding: sentences, implied numbers, the first step that differs."""
    right = problem.run(problem.spec)
    judged = found.tolerance_of or problem
    diagnosis = Diagnosis(
        found.verdict,  # type: ignore[arg-type]
        message(problem.spec, found),
        found.faults,
        found.alternatives,
        evidence=found.evidence,
        notes=found.notes,
        tolerance=how_compared(judged),
    )
    if found.verdict == "correct":
        return replace(diagnosis, notes=(*found.notes, *hidden(problem, found.candidates)))
    mend = " ".join(dict.fromkeys(fault(name).mend for name in found.faults))
    diagnosis = replace(diagnosis, mend=mend, first_step=_first_step(problem, found, right))
    if found.verdict == "undecided" or found.alternatives:
        diagnosis = replace(diagnosis, tell_apart=_apart(problem, found))
    return _with_numbers(diagnosis, problem, right)


def message(spec: Spec, found: Finding) -> str:
    """Verdict and what happened."""
    opening = _OPENING[found.verdict]
    sentences = " ".join(fault(name).sentence(spec) for name in found.faults if name != "rounded-intermediate")
    if found.verdict == "undecided":
        names = ", ".join(found.alternatives) or "a mistake"
        return f"{opening} The right answer, and {names}, give these digits alike."
    if found.verdict == "wrong" and not found.faults:
        return f"{opening} No known mistake explains these numbers."
    if "rounded-intermediate" in found.faults and found.verdict == "wrong":
        sentences = f"{sentences} Numbers were rounded on the way.".strip()
    return f"{opening} {sentences}".strip()


def _first_step(problem: Problem, found: Finding, right: Trace) -> str:
    if found.first_step:
        return found.first_step
    if found.wrong is not None:
        return first_difference(right, found.wrong)
    if found.candidates and found.verdict == "wrong":
        best = found.candidates[0]
        return first_difference(right, problem.run(best.spec, None, best.eps))
    return ""


def _apart(problem: Problem, found: Finding) -> str:
    return separating(found.candidates[:6], problem.spec, problem.eps)


def _with_numbers(diagnosis: Diagnosis, problem: Problem, right: Trace) -> Diagnosis:
    """The implied mean and standard deviation of the first wrong row, and the element furthest off."""
    import numpy as np

    if problem.step != "output":
        return diagnosis
    given, output = right.layout.rows(problem.answer.values), right.layout.rows(right.output)
    with np.errstate(all="ignore"):
        off = np.abs(given - output)
        off = np.where(np.isnan(off) & ~(np.isnan(given) & np.isnan(output)), np.inf, np.nan_to_num(off, nan=0.0))
    flat = int(np.argmax(right.layout.restore(off)))
    index = tuple(int(i) for i in np.unravel_index(flat, problem.x.shape))
    worst = Worst(index, float(problem.answer.values[index]), float(right.output[index]))
    row = int(np.argmax(np.where(np.isfinite(off), off, 0).max(axis=-1)))
    line = slips.implied(problem, row, right)
    diagnosis = replace(diagnosis, worst=worst, row=right.layout.index(row))
    if line is None or set(diagnosis.faults) & {"arithmetic-slip", "wrong-order", "other-step"}:
        return diagnosis
    if not line.fits and (diagnosis.faults or not np.isfinite([line.mean, line.divisor, *given[row]]).all()):
        return diagnosis
    mean, divisor = right_line(right, row)
    near = line.fits or _sensible(line, right["x"].value[row], divisor)
    own = line.mean if abs(line.mean - mean) > line.mean_room else mean
    same = abs(line.divisor - divisor) <= line.divisor_room
    if not diagnosis.faults and diagnosis.verdict == "wrong":
        parted = "mean" if own != mean else "" if same else "variance"
        diagnosis = _unexplained(diagnosis, line, parted, near)
    if not near:
        return diagnosis
    return replace(
        diagnosis,
        implied={"mean": _tidy(own, line.mean_room), "standard_deviation": divisor if same else line.divisor},
        right={"mean": mean, "standard_deviation": divisor},
    )


def _sensible(line: Line, x: Array, divisor: float) -> bool:
    """Whether a line that misses the points still says something: a mean near the row, a divisor of the right order."""
    spread = float(x.max() - x.min())
    return x.min() - spread <= line.mean <= x.max() + spread and 0.05 <= line.divisor / divisor <= 20


def _unexplained(diagnosis: Diagnosis, line: Line, parted: str, near: bool) -> Diagnosis:
    """Where no known mistake fits: what the numbers imply, and the step where they `parted` from the right ones."""
    if line.fits:
        return replace(diagnosis, first_step=parted)
    sentence = "No one mean and standard deviation give all these numbers" + (
        "; the nearest are shown." if near else "."
    )
    return replace(diagnosis, first_step="normalized", evidence=(*diagnosis.evidence, sentence))


def _tidy(value: float, room: float) -> float:
    """0 where it cannot be told from 0."""
    return 0.0 if abs(value) <= max(room, 1e-12) and abs(value) < 1e-6 else value
