"""Numbers to the arrays of a framework and back: numpy, torch, jax and nested lists."""

from __future__ import annotations

import importlib
import math
import numbers
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

LISTS = "lists"
NUMPY = "numpy"
TORCH = "torch"
JAX = "jax"

SHOWN = 10_000
"""Most elements of a result that travel back; a larger one has the wrong shape anyway."""


def nested(flat: Sequence[Any], shape: Sequence[int]) -> Any:
    """A flat row-major sequence as nested lists of a shape."""
    if not shape:
        return flat[0]
    if len(shape) == 1:
        return list(flat)
    step = math.prod(shape[1:])
    return [nested(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def flattened(value: Any) -> list[Any]:
    """The elements of nested lists, row by row."""
    if isinstance(value, list | tuple):
        return [element for part in value for element in flattened(part)]
    return [value]


def build(framework: str, flat: Sequence[float], shape: Sequence[int], dtype: str) -> Any:
    """An array of the framework. Lists know no dtype."""
    if framework == LISTS:
        return nested(flat, shape)
    if framework == TORCH:
        import torch

        return torch.tensor(list(flat), dtype=torch.float64).reshape(tuple(shape)).to(getattr(torch, dtype))
    import numpy as np

    array = np.array(flat, dtype=np.float64).reshape(tuple(shape))
    if framework == JAX:
        return importlib.import_module("jax.numpy").asarray(array).astype(dtype)
    if dtype == "bfloat16":
        import ml_dtypes

        return array.astype(ml_dtypes.bfloat16)
    return array.astype(dtype)


def warm_up(framework: str) -> None:
    """Let a framework load and compile what it will need anyway, outside the time of the first case."""
    if framework in (TORCH, JAX):
        array = build(framework, [1.0, 2.0], (2,), "float32")
        describe((array - array.mean()) / (array.var() + 1) ** 0.5)


def values_of(array: Any) -> list[float]:
    """The elements of an array that `build` made, as they are now."""
    if isinstance(array, list | tuple | float | int):
        return [float(element) for element in flattened(array)]
    return describe(array)["values"]  # type: ignore[no-any-return]


def home(value: Any) -> str:
    """The package that a value's type comes from."""
    return type(value).__module__.partition(".")[0]


def describe(result: Any) -> dict[str, Any]:
    """What a function returned, in plain data: `shape`, `dtype` and `values`, or `what` it is instead."""
    if result is None:
        return {"what": "None"}
    if home(result) == TORCH:
        result = result.detach().cpu()
        shape, dtype = tuple(result.shape), str(result.dtype).removeprefix("torch.")
        values = result.flatten()[:SHOWN]
        return _numbers(shape, dtype, values.tolist() if "complex" not in dtype else [])
    if isinstance(result, list | tuple):
        return _describe_list(result)
    if isinstance(result, numbers.Real | Decimal) and not hasattr(result, "dtype"):
        return _numbers((), "", [float(result)])
    if hasattr(result, "__array__") and hasattr(result, "dtype"):
        return _describe_array(result)
    kind = type(result).__name__
    return {"what": f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"}


def _describe_array(result: Any) -> dict[str, Any]:
    import numpy as np

    array = np.asarray(result)
    if array.dtype == object or array.dtype.kind not in "biufcV":
        return {"what": f"an array of {array.dtype.name}"}
    if array.dtype.kind == "c":
        return _numbers(array.shape, array.dtype.name, [])
    return _numbers(array.shape, array.dtype.name, array.reshape(-1)[:SHOWN].astype(np.float64).tolist())


def _describe_list(result: list[Any] | tuple[Any, ...]) -> dict[str, Any]:
    """Nested lists may hold plain numbers or arrays; they must be regular."""
    kind = f"a {type(result).__name__} of {len(result)}"
    parts = [describe(part) for part in result]
    if any("what" in part for part in parts) or len({tuple(part["shape"]) for part in parts}) > 1:
        inner = ", ".join(type(part).__name__ for part in result[:3])
        return {"what": f"{kind} ({inner}{', ...' if len(result) > 3 else ''})"}
    dtypes = {part["dtype"] for part in parts}
    shape = (len(result), *(parts[0]["shape"] if parts else ()))
    values = [value for part in parts for value in part["values"]]
    return {**_numbers(shape, dtypes.pop() if len(dtypes) == 1 else "", values[:SHOWN]), "list": True}


def _numbers(shape: Sequence[int], dtype: str, values: list[float]) -> dict[str, Any]:
    return {"shape": [int(size) for size in shape], "dtype": dtype, "values": [float(v) for v in values]}
