"""Which argument is which: the parts of layer normalization, recognized by the names people give them."""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

X = "x"
GAMMA = "gamma"
BETA = "beta"
EPS = "eps"
SIZE = "size"
SHAPE = "shape"
AXIS = "axis"

_NAMES = {
    X: "x input inputs hidden_states h z data tensor activations arr array",
    GAMMA: "gamma weight scale gain g w a_2 gammas weights alpha a",
    BETA: "beta bias shift offset b b_2 betas biases",
    EPS: "eps epsilon variance_epsilon e",
    SIZE: "n d dim dims size width features feature_dim num_features n_features d_model hidden_size "
    "hidden_dim hidden embed_dim n_embd n_embed emb_dim embedding_dim model_dim channels num_channels ndim",
    SHAPE: "normalized_shape shape",
    AXIS: "axis axes",
}
_ROLE = {name: role for role, names in _NAMES.items() for name in names.split()}

_ADAPTER = "write an adapter beside it, def adapter(x, gamma, beta, eps): return ..., and check that"


class CallError(Exception):
    """The signature does not say how to call; `what` says why, `hint` how to mend it."""

    def __init__(self, what: str, hint: str = _ADAPTER) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


@dataclass(frozen=True)
class Signature:
    """The parameters lnorm fills: (name, role, positional-only), in the order they are written."""

    parameters: tuple[tuple[str, str, bool], ...]
    annotation: str = ""
    """What x is annotated as."""

    @property
    def roles(self) -> frozenset[str]:
        """The roles that some parameter plays."""
        return frozenset(role for _, role, _ in self.parameters)

    def call(self, function: Callable[..., Any], values: Mapping[str, Any]) -> Any:
        """Call with the value of each role."""
        positional = [values[role] for _, role, first in self.parameters if first]
        return function(*positional, **{name: values[role] for name, role, first in self.parameters if not first})


def role_of(name: str) -> str | None:
    """The role a parameter or attribute name stands for; None when it stands for none."""
    plain = name.lower().strip("_")
    if plain in _ROLE:
        return _ROLE[plain]
    last = _ROLE.get(plain.rpartition("_")[2])
    return last if last in (GAMMA, BETA, EPS) else None


def attribute_for(instance: object, role: str, width: int) -> str | None:
    """The attribute of an object that plays a role: the first of the names whose value has the right size.

    gamma and beta have `width` elements, or are None for now; epsilon is a number.
    """
    for name in _NAMES[role].split():
        value = getattr(instance, name, instance)
        if value is instance:
            continue
        shape = getattr(value, "shape", (len(value),) if isinstance(value, list | tuple) else ())
        if role == EPS and len(shape) == 0 and not callable(value):
            return name
        if role != EPS and (value is None or (len(shape) > 0 and math.prod(shape) == width)):
            return name
    return None


def read_call(function: Callable[..., Any], called: str) -> Signature:
    """How to call a function (or the method of an object) with x and what else it takes."""
    parameters = _parameters(function, called)
    x = _find_x(parameters)
    if x is None:
        raise CallError(f"{called} names no argument that could be x")
    found = []
    for parameter in parameters:
        role = X if parameter is x else _role_in_call(parameter)
        if role is not None:
            found.append((parameter.name, role, _by_position(parameter, parameter is parameters[0])))
        elif parameter.default is parameter.empty:
            raise CallError(f"{called} requires {parameter.name!r}, and lnorm does not know what to give for it")
    return Signature(tuple(found), "" if x.annotation is x.empty else str(x.annotation))


def read_constructor(cls: type, called: str) -> Signature:
    """How to make an instance: the number of features, epsilon, perhaps gamma and beta."""
    found: list[tuple[str, str, bool]] = []
    for index, parameter in enumerate(_parameters(cls, called)):
        required = parameter.default is parameter.empty
        role = role_of(parameter.name)
        if role in (X, AXIS) or isinstance(parameter.default, bool):  # bias=True is a switch, not a beta
            role = None
        if role is None and required and index == 0:
            role = SIZE
        sized = any(earlier in (SIZE, SHAPE) for _, earlier, _ in found)
        if role is not None and (required or role in (GAMMA, BETA, EPS) or not sized):
            found.append((parameter.name, role, parameter.kind is parameter.POSITIONAL_ONLY))
        elif required:
            raise CallError(f"{called}(...) requires {parameter.name!r}, and lnorm does not know what to give for it")
    return Signature(tuple(found))


def _parameters(function: Callable[..., Any], called: str) -> list[inspect.Parameter]:
    try:
        parameters = list(_signature(function).parameters.values())
    except (ValueError, TypeError):
        raise CallError(f"{called} does not tell which arguments it takes") from None
    return [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature, also where Python 3.14 finds an annotation that names nothing at run time."""
    try:
        return inspect.signature(function)
    except NameError:
        as_written = importlib.import_module("annotationlib").Format.FORWARDREF
        options: dict[str, Any] = {"annotation_format": as_written}
        return inspect.signature(function, **options)


def _find_x(parameters: list[inspect.Parameter]) -> inspect.Parameter | None:
    named = next((p for p in parameters if role_of(p.name) == X), None)
    return named or next((p for p in parameters if role_of(p.name) not in (GAMMA, BETA, EPS)), None)


def _role_in_call(parameter: inspect.Parameter) -> str | None:
    role = role_of(parameter.name)
    if role in (GAMMA, BETA, EPS) and not isinstance(parameter.default, bool):
        return role
    if role == X or parameter.default is not parameter.empty:
        return None
    return AXIS if parameter.name == "dim" else role


def _by_position(parameter: inspect.Parameter, first: bool) -> bool:
    """The first argument is given by position where it can be, so that its name never matters."""
    return parameter.kind is parameter.POSITIONAL_ONLY or (first and parameter.kind is parameter.POSITIONAL_OR_KEYWORD)
