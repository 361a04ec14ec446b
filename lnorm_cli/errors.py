"""The errors a user may meet: each says what is wrong, where, and how to mend it."""

from __future__ import annotations


class InputError(ValueError):
    """Input that cannot be taken.

    `what` is one sentence; `hint` tells how to mend it; `text` and `position` (a character index into
    `text`) let the edge of the program point at the place.
    """

    def __init__(self, what: str, *, hint: str = "", text: str = "", position: int | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
        self.text = text
        self.position = position

    def located(self, where: str) -> InputError:
        """The same error with the place it comes from in front, such as `--gamma` or `x.csv, row 2`."""
        return type(self)(f"{where}: {self.what}", hint=self.hint, text=self.text, position=self.position)


class ProblemsError(InputError):
    """Several problems at once: `what` has one a line."""


class UndefinedError(InputError):
    """Exact arithmetic met a value that does not exist, such as 0/0."""
