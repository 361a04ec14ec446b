"""What a demo is asked to run: the words of its block, and the options of the command line over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from lnorm_cli.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]


@dataclass
class Options:
    """The reader's own values; `used` gathers the names of those that a demo took."""

    x: str | None = None
    sublayer: str | None = None
    shape: str | None = None
    axis: str | None = None
    depth: int | None = None
    width: int | None = None
    seed: int | None = None
    used: set[str] = field(default_factory=set)
    progress: Callable[[int, int], None] | None = None

    @property
    def given(self) -> set[str]:
        """Names of the options that the reader gave."""
        names = ("x", "sublayer", "shape", "axis", "depth", "width", "seed")
        return {name for name in names if getattr(self, name) is not None}

    def take(self, name: str) -> Any:
        """The option's value, noted as used; None where it was not given."""
        value = getattr(self, name)
        if value is not None:
            self.used.add(name)
        return value


class Arguments:
    """The words of one demo block, read as the kinds of value that demos need."""

    def __init__(self, words: Sequence[str], options: Options | None = None) -> None:
        pairs = [word.partition("=")[::2] for word in words if _is_pair(word)]
        self.words = [word for word in words if not _is_pair(word)]
        self.pairs = dict(pairs)
        self.options = options or Options()

    def text(self, key: str, default: str = "", *, own: bool = False) -> str:
        """The text of `key`; with `own`, the reader's option of that name comes first."""
        given = self.options.take(key) if own else None
        return self.pairs.get(key, default) if given is None else str(given)

    def integer(self, key: str, default: int, *, least: int = 1) -> int:
        """A whole number; the reader's option of that name comes first."""
        given = self.options.take(key) if hasattr(self.options, key) else None
        value = int(self.pairs.get(key, default)) if given is None else int(given)
        if value < least:
            raise InputError(f"--{key} is {value}", hint=f"give a whole number from {least} on")
        return value

    def list(self, key: str, default: str = "") -> list[str]:
        """The words of `key`."""
        return self.pairs.get(key, default).replace(",", " ").split()

    def vector(self, key: str = "") -> Array:
        """Exact values: of `key`, or of the positional words."""
        from lnorm_cli.reading import parse_vector

        return parse_vector(self.pairs[key] if key else " ".join(self.words))

    def own_vector(self) -> Array:
        """The reader's `--x`, or else the positional words; several rows are refused."""
        from lnorm_cli.reading import parse_vector

        given = self.options.take("x")
        if given is None:
            return self.vector()
        try:
            vector = parse_vector(given)
        except InputError as error:
            raise error.located("--x") from None
        if vector.ndim != 1:
            raise InputError("--x has several rows", hint="give one row, such as --x '2 4 4 6'")
        return vector

    def rows(self, key: str) -> Array:
        """Exact rows separated by semicolons."""
        import numpy as np

        from lnorm_cli.reading import parse_vector

        return np.array([parse_vector(row) for row in self.pairs[key].split(";")])

    def exact(self, key: str, default: str = "1/100000") -> Any:
        """One exact number."""
        from lnorm_cli.reading import parse_number

        return parse_number(self.pairs.get(key, default))

    def parameter(self, key: str, default: int) -> Array:
        """gamma or beta: one number or one for each feature."""
        import numpy as np

        return self.vector(key) if key in self.pairs else np.array([Fraction(default)])


def _is_pair(word: str) -> bool:
    key, equals, _ = word.partition("=")
    return bool(equals) and key.replace("_", "").isalpha()
