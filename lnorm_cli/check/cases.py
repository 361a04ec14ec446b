"""The conformance cases of data/conformance.toml, and what is right for each."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.arithmetic import DTYPES, Float, numpy_dtype
from lnorm_cli.faults.condition import allowance
from lnorm_cli.norm import NORMS, trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

COMPUTING = "values"
COMPANIONS = "companions"
DTYPE = "dtype"
UNCHANGED = "unchanged"
REPEAT = "repeat"
GRADIENT = "gradient"


@dataclass(frozen=True, eq=False)
class Case:
    """One input with what is asked of the result. x, other, gamma, beta are float64 that `dtype` holds."""

    id: str
    what: str
    kind: str
    norm: str
    x: Array
    gamma: Array
    beta: Array
    eps: Fraction
    dtype: str
    note: bool = False
    other: Array | None = None

    def request(self, x: Array | None = None) -> dict[str, Any]:
        """The call in plain data, as the worker wants it."""
        x = self.x if x is None else x
        return {
            "do": "call",
            "x": x.reshape(-1).tolist(),
            "shape": list(x.shape),
            "gamma": self.gamma.tolist(),
            "beta": self.beta.tolist(),
            "eps": float(self.eps),
            "dtype": self.dtype,
        }

    @cached_property
    def expected(self) -> Array:
        """The exact result, as float64."""
        t = trace(self.x, NORMS[self.norm], gamma=self.gamma, beta=self.beta, eps=self.eps)
        return Float().array(t.output)

    def tolerance(self, result_dtype: str) -> Array:
        """How far each element of a result in that dtype may lie from `expected`: what rounding can do.

        The coarser of the case's dtype and the result's counts; "" stands for plain numbers.
        """
        dtype = self.judged_as(result_dtype)
        t = trace(self.x, NORMS[self.norm], Float(), gamma=self.gamma, beta=self.beta, eps=float(self.eps))
        return t.layout.restore(allowance(t, Float(dtype).unit, dtype, wide=True).total)

    def judged_as(self, result_dtype: str) -> str:
        """The coarser of the case's dtype and the result's."""
        known = [name for name in (self.dtype, result_dtype) if name in DTYPES]
        return max(known, key=lambda name: Float(name).unit)

    def smaller(self) -> Iterator[Case]:
        """The same case with one row less, one leading axis less or one feature less (two stay)."""
        import numpy as np

        if self.x.ndim > 1 and self.x.shape[0] == 1:
            yield replace(self, x=self.x[0])
        for axis, size in enumerate(self.x.shape):
            feature = axis == self.x.ndim - 1
            if size <= (2 if feature else 1):
                continue
            for index in range(size):
                x = np.delete(self.x, index, axis)
                if feature:
                    gamma, beta = np.delete(self.gamma, index), np.delete(self.beta, index)
                    yield replace(self, x=x, gamma=gamma, beta=beta)
                else:
                    yield replace(self, x=x)


def case_ids() -> list[str]:
    """The ids of all cases, in order."""
    return [str(entry["id"]) for entry in _entries()]


def load_cases(norm: str, *, taken: Sequence[str], dtype: str | None = None, eps: Fraction | None = None) -> list[Case]:
    """The cases for a norm and for code that can be given `taken` of gamma, beta and eps.

    What cannot be given counts as gamma = 1, beta = 0 and `eps`. With `dtype` every case is asked in it,
    except those whose numbers it cannot hold, and none is a mere note.
    """
    import numpy as np

    found = []
    for entry in _entries():
        own = str(entry.get("dtype", "float64"))
        if not _applies(entry, taken, dtype):
            continue
        asked = dtype or own
        x, gamma, beta = (_rounded(entry[name], asked) for name in ("x", "gamma", "beta"))
        if not all(np.isfinite(values).all() for values in (x, gamma, beta)):
            continue
        case = Case(
            id=str(entry["id"]),
            what=str(entry["what"]),
            kind=str(entry.get("kind", COMPUTING)),
            norm=norm,
            x=x,
            gamma=gamma if "gamma" in taken else np.ones_like(gamma),
            beta=beta if "beta" in taken else np.zeros_like(beta),
            eps=Fraction(entry["eps"]) if "eps" in taken or eps is None else eps,
            dtype=asked,
            note=bool(entry.get("note")) and dtype is None,
            other=_rounded(entry["other"], asked) if "other" in entry else None,
        )
        found.append(case)
    return found


def known_epsilons() -> list[str]:
    """Epsilons that libraries and models use by default, the most common first."""
    text = files("lnorm_cli").joinpath("data/epsilons.toml").read_text(encoding="utf-8")
    values = [str(entry["eps"]) for entry in tomllib.loads(text)["default"]]
    return sorted(set(values), key=lambda value: (-values.count(value), value))


def _applies(entry: dict[str, Any], taken: Sequence[str], dtype: str | None) -> bool:
    if not set(entry.get("needs", ())) <= set(taken):
        return False
    return dtype is None or not entry.get("note") or entry.get("dtype") == dtype


def _entries() -> list[dict[str, Any]]:
    text = files("lnorm_cli").joinpath("data/conformance.toml").read_text(encoding="utf-8")
    entries: list[dict[str, Any]] = tomllib.loads(text)["case"]
    return entries


def _rounded(values: Any, dtype: str) -> Array:
    import numpy as np

    with np.errstate(over="ignore"):
        return np.asarray(values, dtype=np.float64).astype(numpy_dtype(dtype)).astype(np.float64)


def nested(array: Array) -> Any:
    """An array as nested lists of floats, a non-finite one as the string "nan", "inf" or "-inf"."""
    if array.ndim:
        return [nested(part) for part in array]
    value = float(array)
    return value if math.isfinite(value) else str(value)
