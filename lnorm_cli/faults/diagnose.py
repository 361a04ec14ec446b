"""`diagnose`: a problem, an answer, and what went wrong in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias

from lnorm_cli import exact
from lnorm_cli.arithmetic import DTYPES, Float, to_exact
from lnorm_cli.errors import InputError
from lnorm_cli.faults.answer import LARGE, Answer, make_answer
from lnorm_cli.faults.block import diagnose_block
from lnorm_cli.faults.conclude import check_shape, conclude, malformed
from lnorm_cli.faults.diagnosis import Diagnosis
from lnorm_cli.faults.harmless import at_dtype
from lnorm_cli.faults.problem import make_problem, place
from lnorm_cli.faults.stream import Stream, diagnose_large
from lnorm_cli.layout import Layout
from lnorm_cli.norm import DEFAULT_EPS, LAYER, Spec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

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
    epsilon = exact.tidy(to_exact([epsilon])[0])
    if residual is not None:
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
