"""The user's object in the worker: found in the file, and made callable with x, gamma, beta and epsilon."""

from __future__ import annotations

import difflib
import inspect
import sys
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lnorm_cli.check import arrays
from lnorm_cli.check.loading import EXAMPLE
from lnorm_cli.check.signature import (
    AXIS,
    BETA,
    EPS,
    GAMMA,
    SHAPE,
    SIZE,
    CallError,
    Signature,
    X,
    attribute_for,
    read_call,
    read_constructor,
)


def load_module(path: Path) -> types.ModuleType:
    """Run the file as a module of its own name; its exceptions pass through."""
    name = path.stem if path.stem not in sys.modules and path.stem not in sys.stdlib_module_names else "checked"
    module = types.ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    sys.path.insert(0, str(path.resolve().parent))
    exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), module.__dict__)
    return module


def find(module: types.ModuleType, name: str, file: str) -> Any:
    """The object of that name, dots allowed; `CallError` with the nearest names when there is none."""
    value: Any = module
    for part in name.split("."):
        if not hasattr(value, part):
            names = [n for n, v in vars(value).items() if callable(v) and not n.startswith("_")]
            close = difflib.get_close_matches(part, names, n=1, cutoff=0.5)
            if close:
                hint = f"did you mean {file}:{name.removesuffix(part)}{close[0]}?"
            else:
                hint = f"it has {', '.join(names[:8])}" if names else "it defines no function and no class"
            raise CallError(f"{file} has no {part!r}", hint)
        value = getattr(value, part)
    if not callable(value):
        raise CallError(f"{name} is {type(value).__name__!r}, not a function or a class", EXAMPLE)
    return value


class Target:
    """The user's function or class behind one way of calling it."""

    def __init__(self, value: Any, name: str) -> None:
        self.maker: Signature | None = None
        self.value = value
        if isinstance(value, type):
            self.maker = read_constructor(value, name)
            self.method, shown = _method(value, name)
            self.caller = read_call(_as_bound(value, self.method), shown)
        else:
            forward = getattr(value, "forward", None)
            self.method = "forward" if forward else "__call__"
            self.caller = read_call(forward or value, name)

    def taken(self) -> set[str]:
        """Which of gamma, beta and eps can be given at all."""
        roles = set(self.caller.roles) | set(self.maker.roles if self.maker else ())
        if self.maker is not None:
            try:
                instance = self._instance({SIZE: 2, SHAPE: (2,), GAMMA: [1.0] * 2, BETA: [0.0] * 2, EPS: 1e-5})
            except Exception:
                return roles
            roles |= {role for role in (GAMMA, BETA, EPS) if attribute_for(instance, role, 2)}
        return roles & {GAMMA, BETA, EPS}

    def prepare(self, values: Mapping[str, Any], width: int) -> tuple[Callable[[Any], Any], dict[str, Any]]:
        """A function of x alone, and the arrays that play gamma and beta in it (where gradients go)."""
        values = {**values, SIZE: width, SHAPE: (width,), AXIS: -1}
        if self.maker is None:
            function = self.value
            return lambda x: self.caller.call(function, {**values, X: x}), {}
        instance = self._instance(values)
        if _is_torch(values.get(GAMMA)) and hasattr(instance, "to"):
            instance = instance.to(values[GAMMA].dtype)
        parameters = {}
        for role in {GAMMA, BETA, EPS} - self.maker.roles - self.caller.roles:
            attribute = attribute_for(instance, role, width)
            if attribute is not None and role in values:
                parameters[role] = _set(instance, attribute, values[role])
        method = instance if callable(instance) else getattr(instance, self.method)
        return lambda x: self.caller.call(method, {**values, X: x}), parameters

    def _instance(self, values: Mapping[str, Any]) -> Any:
        """An instance; a size that may be an int or a tuple is tried both ways."""
        assert self.maker is not None
        try:
            return self.maker.call(self.value, values)
        except TypeError:
            if not self.maker.roles & {SIZE, SHAPE}:
                raise
            return self.maker.call(self.value, {**values, SIZE: values[SHAPE], SHAPE: values[SIZE]})


def _method(cls: type, name: str) -> tuple[str, str]:
    for method in ("forward", "__call__", "call", "normalize", "apply"):
        if callable(getattr(cls, method, None)) and (method != "__call__" or "__call__" in _defined(cls)):
            return method, name if method == "__call__" else f"{name}.{method}"
    raise CallError(
        f"the class {name} has no __call__ and no forward",
        "give it one, def __call__(self, x): ..., or check its method by way of a function",
    )


def _as_bound(cls: type, method: str) -> Callable[..., Any]:
    """The method without its self, an instance not being there yet."""
    function: Callable[..., Any] = getattr(cls, method)
    if isinstance(inspect.getattr_static(cls, method), staticmethod | classmethod):
        return function
    return types.MethodType(function, object())


def _defined(cls: type) -> set[str]:
    return {name for base in cls.__mro__ for name in vars(base)}


def _is_torch(value: Any) -> bool:
    return arrays.home(value) == arrays.TORCH and hasattr(value, "data")


def _set(instance: Any, attribute: str, value: Any) -> Any:
    """Put a value where the parameter is, in the shape it has there; returns what is there now."""
    current = getattr(instance, attribute)
    shape = tuple(getattr(current, "shape", ()) or ())
    if shape and hasattr(value, "reshape"):
        value = value.reshape(shape)
    if _is_torch(current):
        import torch

        wide = torch.tensor(value, dtype=torch.float64) if isinstance(value, float) else value
        current.data = wide.detach().clone()
        return current
    try:
        setattr(instance, attribute, value)
    except AttributeError:  # a frozen dataclass, a read-only property
        object.__setattr__(instance, attribute, value)
    return value
