"""What a reply of the worker means for a case: shape before dtype before values, nothing by broadcasting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.check import cases
from lnorm_cli.check.cases import Case

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

PASS, FAIL, ERROR, TIMEOUT = "pass", "fail", "error", "timeout"

WRONG_SHAPE = "wrong shape"
WRONG_DTYPE = "wrong dtype"
WRONG_VALUES = "wrong values"
RETURNED_NONE = "returned None"
NO_ARRAY = "not an array"
CHANGED = "argument changed"
LEAK = "depends on companions"
DRIFT = "differs when repeated"
GRADIENT = "gradient"
RAISED = "raised"
DIED = "ended the process"
OUT_OF_MEMORY = "out of memory"
TIMED_OUT = "timed out"

FLOATS = ("", "float64", "float32", "float16", "bfloat16", "longdouble", "float128", "float96")
"""dtypes whose values can be judged; "" stands for plain Python numbers."""


@dataclass(frozen=True)
class Judgement:
    """pass, fail, error or timeout; for the last three the reason and a sentence."""

    outcome: str
    reason: str = ""
    message: str = ""
    expected: Array | None = None
    got: Array | None = None
    tolerance: float | None = None
    output: Array | None = None
    """Everything returned for the case's x, when its shape is right; for naming what went wrong."""
    dtype: str = ""
    """What the output was judged as."""
    remark: str = ""
    """Something to know about a pass."""


PASSED = Judgement(PASS)


def judge_call(case: Case, reply: Mapping[str, Any]) -> Judgement:
    """Whether one call gave the right shape, a floating dtype and the right values."""
    import numpy as np

    if "raised" in reply:
        return raised(reply)
    result = reply["result"]
    form = _judge_form(case, result)
    if form is not None:
        return form
    got = np.array(result["values"], dtype=np.float64).reshape(result["shape"])
    expected, tolerance = case.expected, case.tolerance(result["dtype"])
    with np.errstate(invalid="ignore"):
        right = bool(np.all(np.abs(got - expected) <= tolerance))
    largest, dtype = float(tolerance.max()), case.judged_as(result["dtype"])
    if right:
        return Judgement(PASS, "", "", expected, got, largest, got, dtype, _remark(case, dtype))
    return Judgement(FAIL, WRONG_VALUES, _values_message(got, expected), expected, got, largest, got, dtype)


def _judge_form(case: Case, result: Mapping[str, Any]) -> Judgement | None:
    import numpy as np

    expected = case.expected
    if "what" in result:
        if result["what"] == "None":
            return Judgement(FAIL, RETURNED_NONE, "it returned None: is a return missing?", expected)
        return Judgement(FAIL, NO_ARRAY, f"it returned {result['what']} instead of the numbers alone", expected)
    shape, wanted = tuple(result["shape"]), case.x.shape
    if shape != wanted:
        kind = "an empty result, " if 0 in shape else ""
        message = f"it returned {kind}shape {_shape(shape)} for x of shape {_shape(wanted)}"
        fits = len(result["values"]) == int(np.prod(shape))
        got = np.array(result["values"]).reshape(shape) if fits else None
        return Judgement(FAIL, WRONG_SHAPE, message, expected, got)
    if result["dtype"] not in FLOATS:
        return Judgement(FAIL, WRONG_DTYPE, f"it returned {result['dtype']}, not floating point", expected)
    return None


def _remark(case: Case, dtype: str) -> str:
    return f"returns {dtype} for {case.dtype}: judged as {dtype}" if dtype != case.dtype else ""


def _values_message(got: Array, expected: Array) -> str:
    import numpy as np

    if not np.isfinite(got).all():
        bad = int((~np.isfinite(got)).sum())
        return f"{bad} of {got.size} values {'is' if bad == 1 else 'are'} nan or infinite"
    place = np.unravel_index(int(np.abs(got - expected).argmax()), got.shape)
    where = ", ".join(str(int(i)) for i in place)
    one, two = pair_text(float(got[place]), float(expected[place]))
    return f"largest difference at [{where}]: {one} for {two}"


def pair_text(a: float, b: float, within: float = 0.0) -> tuple[str, str]:
    """Two numbers with the digits it takes to see a difference, six at least; none up to `within` is seen."""
    for digits in range(6, 18):
        texts = f"{a:.{digits}g}", f"{b:.{digits}g}"
        if texts[0] != texts[1] or abs(a - b) <= within:
            break
    return texts


def judge_dtype(case: Case, reply: Mapping[str, Any]) -> Judgement:
    """The result has the dtype of x; a list has none and passes. The values are other cases' business."""
    judgement = _judged_form(case, reply)
    if judgement.outcome != PASS:
        return judgement
    dtype = reply["result"]["dtype"]
    if dtype == case.dtype or reply["result"].get("list"):
        return judgement
    return Judgement(FAIL, WRONG_DTYPE, f"{case.dtype} in, {dtype or 'a Python number'} out")


def judge_unchanged(case: Case, reply: Mapping[str, Any]) -> Judgement:
    """x, gamma and beta are after the call what they were before."""
    import numpy as np

    judgement = _judged_form(case, reply)
    if judgement.outcome != PASS or not reply["changed"]:
        return judgement
    name, values = next(iter(reply["changed"].items()))
    before: Array = getattr(case, name)
    after = np.array(values, dtype=np.float64)
    if after.size == before.size:
        after = after.reshape(before.shape)
    return Judgement(FAIL, CHANGED, f"the call changes its argument {name}; work on a copy", before, after)


def _judged_form(case: Case, reply: Mapping[str, Any]) -> Judgement:
    """Whether the result is numbers in the right shape at all."""
    import numpy as np

    if "raised" in reply:
        return raised(reply)
    result = reply["result"]
    form = _judge_form(case, result)
    return form or Judgement(PASS, got=np.array(result["values"], dtype=np.float64).reshape(result["shape"]))


def judge_pair(case: Case, first: Mapping[str, Any], second: Mapping[str, Any]) -> Judgement:
    """Rows that x and `other` share (for a repeat: all) come out the same, whatever their values."""
    import numpy as np

    for reply in (first, second):
        form = _judged_form(case, reply)
        if form.outcome != PASS:
            return form
    one, two = (np.array(r["result"]["values"]).reshape(case.x.shape) for r in (first, second))
    shared = np.ones(case.x.shape[:-1], bool) if case.other is None else (case.x == case.other).all(axis=-1)
    tolerance = case.tolerance(first["result"]["dtype"])[shared]
    a, b = one[shared], two[shared]
    if np.all((np.abs(a - b) <= 2 * tolerance) | ((a == b) | (np.isnan(a) & np.isnan(b)))):
        return Judgement(PASS, got=one)
    if case.kind == cases.REPEAT:
        return Judgement(FAIL, DRIFT, "a second call with the same input gives another result", one, two)
    message = "a token's result changes with the other tokens: statistics must not leave the token"
    dtype = case.judged_as(first["result"]["dtype"])
    return Judgement(FAIL, LEAK, message, a, b, output=one, dtype=dtype)


def judge_gradient(case: Case, reply: Mapping[str, Any]) -> Judgement:
    """A gradient arrives at every argument, and all of it is finite."""
    import numpy as np

    if "raised" in reply:
        return raised(reply)
    gradients = reply["gradients"]
    missing = [name for name, values in gradients.items() if values is None]
    if missing:
        return Judgement(FAIL, GRADIENT, f"no gradient reaches {', '.join(missing)}")
    for name, values in gradients.items():
        if not np.isfinite(values).all():
            array = np.array(values)
            shaped = array.reshape(case.x.shape) if name == "x" else array
            return Judgement(FAIL, GRADIENT, f"the gradient with respect to {name} is not finite", None, shaped)
    return PASSED


def raised(reply: Mapping[str, Any]) -> Judgement:
    """An exception of the user's code, in words."""
    kind, text = reply["raised"], reply["text"]
    if kind == "SystemExit":
        said = f"it left with sys.exit({text})"
    elif kind == "KeyboardInterrupt":
        said = "it raised KeyboardInterrupt itself"
    elif kind == "MemoryError":
        said = "it asked for more memory than it may have (1 GiB)"
    else:
        said = f"it raised {kind}" + (f": {text}" if text else "")
    if "line" in reply:
        said += f" (line {reply['line']}: {reply['source']})" if reply["source"] else f" (line {reply['line']})"
    return Judgement(ERROR, OUT_OF_MEMORY if kind == "MemoryError" else RAISED, said)


def _shape(shape: tuple[int, ...]) -> str:
    return f"({shape[0]},)" if len(shape) == 1 else f"({', '.join(map(str, shape))})"
