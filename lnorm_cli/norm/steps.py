"""Steps, the Trace they make up, and the Recorder that runs operations into steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.arithmetic import Arithmetic
from lnorm_cli.layout import Layout
from lnorm_cli.norm.spec import ROOTS, SUMS, Spec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Step:
    """One recorded value: `operation` applied to the steps and parameters named in `operands`.

    `value` has shape (rows, n) or, for a `statistic`, (rows, 1).
    """

    name: str
    operation: str
    operands: tuple[str, ...]
    value: Array
    statistic: bool


@dataclass(frozen=True)
class Trace:
    """Every step of one normalization in one arithmetic, in order; `trace["variance"]` finds one."""

    spec: Spec
    arithmetic: Arithmetic
    layout: Layout
    steps: tuple[Step, ...]
    parameters: Mapping[str, Array]

    def __getitem__(self, name: str) -> Step:
        for step in self.steps:
            if step.name == name:
                return step
        raise KeyError(name)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __contains__(self, name: object) -> bool:
        return any(step.name == name for step in self.steps)

    def value(self, name: str) -> Array:
        """The value of a step or parameter."""
        return self.parameters[name] if name in self.parameters else self[name].value

    def row(self, position: int) -> dict[str, Array]:
        """Every parameter and step of one row, by name: n values, or one for a statistic."""
        values = {**self.parameters, **{step.name: step.value for step in self.steps}}
        return {name: array[position % len(array)] for name, array in values.items()}

    @property
    def output(self) -> Array:
        """The result, in the shape of x."""
        return self.layout.restore(self.steps[-1].value)


class Recorder:
    """Runs operations in an arithmetic and keeps each as a Step."""

    def __init__(self, arithmetic: Arithmetic, values: dict[str, Array]) -> None:
        self.arithmetic = arithmetic
        self.values = values
        self.steps: list[Step] = []
        self.statistics = {"epsilon"}

    def note(self, name: str, operation: str, operands: tuple[str, ...], value: Array) -> Array:
        self.values[name] = value
        statistic = operation in SUMS or (bool(operands) and self.statistics.issuperset(operands))
        if statistic:
            self.statistics.add(name)
        self.steps.append(Step(name, operation, operands, value, statistic))
        return value

    def apply(self, name: str, operation: str, *operands: str) -> Array:
        """Run `operation` on the named values, in the arithmetic set at the time."""
        a = self.arithmetic
        values = [self.values[operand] for operand in operands]
        if operation == "square":
            value = a.multiply(values[0], values[0])
        elif operation == "one":
            value = a.array([[1]] * len(values[0]))
        elif operation in ROOTS:
            value = a.power(values[0], ROOTS[operation])
        elif operation == "mean":
            value = a.divide(a.sum(values[0]), a.array([[values[0].shape[-1]]]))
        else:
            value = getattr(a, operation)(*values)
        return self.note(name, operation, operands, value)
