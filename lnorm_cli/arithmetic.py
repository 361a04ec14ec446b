"""Two arithmetics with the same few operations on arrays: `Exact`, and `Float` in any dtype.

Arrays have shape (rows, n); a sum runs along the last axis and keeps it. `statistics` is the arithmetic in
which mean and variance are computed: the same one, or for `Float` that of the accumulate dtype.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from lnorm_cli import exact
from lnorm_cli.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

DTYPES = ("float64", "float32", "float16", "bfloat16")


class Arithmetic(Protocol):
    """What `norm.trace` asks of an arithmetic."""

    @property
    def statistics(self) -> Arithmetic: ...
    def array(self, values: Any) -> Array: ...
    def add(self, a: Array, b: Array) -> Array: ...
    def subtract(self, a: Array, b: Array) -> Array: ...
    def multiply(self, a: Array, b: Array) -> Array: ...
    def divide(self, a: Array, b: Array) -> Array: ...
    def power(self, a: Array, exponent: Fraction) -> Array: ...
    def absolute(self, a: Array) -> Array: ...
    def sum(self, a: Array) -> Array: ...


@cache
def _ufunc(name: str) -> Any:
    """The scalar function of `exact` of that name, over arrays of objects."""
    import numpy as np

    return np.frompyfunc(getattr(exact, name), 1 if name == "absolute" else 2, 1)


def _elementwise(name: str, *operands: Any) -> Array:
    import numpy as np

    with np.errstate(all="ignore"):  # float flags that sympy's own work may leave are no concern of ours
        return _ufunc(name)(*operands)  # type: ignore[no-any-return]


class Exact:
    """Arithmetic without rounding, on object arrays of the values of `lnorm_cli.exact`."""

    name = "exact"

    @property
    def statistics(self) -> Exact:
        return self

    def array(self, values: Any) -> Array:
        """Exact values of anything array-like: a float counts as the binary number that it is."""
        return to_exact(values)

    def add(self, a: Array, b: Array) -> Array:
        return _elementwise("add", a, b)

    def subtract(self, a: Array, b: Array) -> Array:
        return _elementwise("subtract", a, b)

    def multiply(self, a: Array, b: Array) -> Array:
        return _elementwise("multiply", a, b)

    def divide(self, a: Array, b: Array) -> Array:
        """a / b, by way of one reciprocal for each divisor; UndefinedError where a divisor is 0."""
        if b.size < a.size and all(isinstance(value, Fraction) or not value.is_Add for value in b.flat):
            if any(exact.is_zero(value) for value in b.flat):
                return _elementwise("divide", a, b)
            return _elementwise("multiply", a, _elementwise("divide", self.array([[1]]), b))
        return _elementwise("divide", a, b)

    def power(self, a: Array, exponent: Fraction) -> Array:
        return _elementwise("power", a, exponent)

    def absolute(self, a: Array) -> Array:
        return _elementwise("absolute", a)

    def sum(self, a: Array) -> Array:
        return _ufunc("add").reduce(a, axis=-1, keepdims=True)  # type: ignore[no-any-return]


class Float:
    """Floating point with every operation rounded to `dtype`, the statistics to `accumulate`.

    Overflow and 0/0 give inf and nan, as in the libraries. A sum is numpy's in float64 and float32 and runs
    from left to right, rounded at each addition, in the two half precisions.
    """

    def __init__(self, dtype: str = "float64", accumulate: str | None = None) -> None:
        for given in (dtype, accumulate or dtype):
            if given not in DTYPES:
                raise InputError(f"unknown dtype {given!r}", hint="one of " + ", ".join(DTYPES))
        self.name = dtype
        self.accumulate = accumulate or dtype

    def __repr__(self) -> str:
        return f"Float({self.name!r}, accumulate={self.accumulate!r})"

    @cached_property
    def dtype(self) -> Any:
        return numpy_dtype(self.name)

    @property
    def statistics(self) -> Float:
        return self if self.accumulate == self.name else Float(self.accumulate)

    @property
    def unit(self) -> float:
        """Half the distance from 1 to the next number: the largest relative error of one rounding."""
        return {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}[self.name]

    def array(self, values: Any) -> Array:
        """Values rounded once to the dtype; exact ones never by way of another float."""
        import numpy as np

        array = np.asarray(values)
        if array.dtype.kind == "U":
            array = to_exact(array)
        if array.dtype != object:
            with np.errstate(all="ignore"):
                return array.astype(self.dtype, copy=False)
        to_nearest = exact.to_float if self.name == "float64" else _to_odd
        doubles = np.array(
            [v if isinstance(v, float) else to_nearest(exact.tidy(_exact_scalar(v))) for v in array.flat]
        )
        with np.errstate(all="ignore"):
            return doubles.reshape(array.shape).astype(self.dtype)

    def _rounded(self, function: Callable[..., Any], *operands: Array) -> Array:
        import numpy as np

        with np.errstate(all="ignore"):
            result: Array = function(*(operand.astype(self.dtype, copy=False) for operand in operands))
        return result

    def add(self, a: Array, b: Array) -> Array:
        import numpy as np

        return self._rounded(np.add, a, b)

    def subtract(self, a: Array, b: Array) -> Array:
        import numpy as np

        return self._rounded(np.subtract, a, b)

    def multiply(self, a: Array, b: Array) -> Array:
        import numpy as np

        return self._rounded(np.multiply, a, b)

    def divide(self, a: Array, b: Array) -> Array:
        import numpy as np

        return self._rounded(np.divide, a, b)

    def power(self, a: Array, exponent: Fraction) -> Array:
        """Roots by `sqrt`, as code does: exponents are 1, 1/2, 1/4 and their negatives."""
        import numpy as np

        result = a
        for _ in range(exponent.denominator.bit_length() - 1):
            result = self._rounded(np.sqrt, result)
        if exponent < 0:
            result = self.divide(self.array([[1.0]]), result)
        return result

    def absolute(self, a: Array) -> Array:
        import numpy as np

        return self._rounded(np.abs, a)

    def sum(self, a: Array) -> Array:
        import numpy as np

        if self.name in ("float64", "float32"):
            return self._rounded(partial(np.add.reduce, axis=-1, keepdims=True), a)
        return self._rounded(lambda v: np.add.accumulate(v, axis=-1)[..., -1:], a)


def numpy_dtype(name: str) -> Any:
    """The numpy dtype of one of `DTYPES`; bfloat16 comes from ml_dtypes."""
    import numpy as np

    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def _to_odd(value: exact.Exact) -> float:
    """The float64 that rounds to the same shorter float as the value does: odd wherever it is inexact.

    Rounding twice to nearest can be wrong at ties; rounding to odd first cannot (Boldo, Melquiond 2008).
    """
    number = exact.approximate(value)
    nearest = exact.to_float(number)
    if math.isinf(nearest) or Fraction(nearest) == number:
        return nearest
    significand = math.frexp(abs(nearest))[0] * 2**53
    if int(significand) % 2:
        return nearest
    return math.nextafter(nearest, math.inf if Fraction(nearest) < number else -math.inf)


def to_exact(values: Any) -> Array:
    """An object array of exact values: `Fraction` of ints and floats, exact values as they are."""
    import numpy as np

    array = np.asarray(values)
    result = np.empty(array.shape, dtype=object)
    if array.dtype.kind in "OU":
        flat = [exact.tidy(_exact_scalar(value)) for value in array.flat]
    elif array.dtype.kind in "iu":
        flat = [Fraction(int(value)) for value in array.flat]
    elif array.dtype == np.longdouble and array.dtype.itemsize > 8:
        flat = [_ratio(value) for value in array.flat]
    elif array.dtype.kind in "cSMm":
        raise InputError(f"the values have dtype {array.dtype}, not real numbers", hint="convert them to float")
    else:
        flat = [_ratio(value) for value in array.astype(np.float64).flat]
    result[...] = np.array([*flat, None], dtype=object)[:-1].reshape(array.shape)
    return result


def _exact_scalar(value: Any) -> Any:
    if isinstance(value, str):
        from lnorm_cli.reading.grammar import parse_number

        return parse_number(value)
    if hasattr(value, "__index__"):
        return Fraction(value.__index__())
    if hasattr(value, "as_integer_ratio"):  # Python's and numpy's floats, Decimal, Fraction
        return _ratio(value)
    return value


def _ratio(value: Any) -> Fraction:
    """A float as the fraction that it is."""
    try:
        return Fraction(*value.as_integer_ratio())
    except (ValueError, OverflowError):
        raise InputError(f"{value} is not a finite number", hint="exact arithmetic takes finite numbers") from None
