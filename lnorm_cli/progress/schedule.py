"""When an item is due again: FSRS, by the package of that name, loaded only when asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Literal

Rating = Literal["again", "hard", "good", "easy"]


class CardError(ValueError):
    """A card that FSRS cannot take: it was damaged, or written by something else."""


@contextmanager
def _refused() -> Iterator[None]:
    """Whatever FSRS stumbles over in a card is one kind of error."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise CardError(str(error)) from None


def review(card_text: str | None, rating: Rating, now: datetime) -> tuple[datetime, str]:
    """When an item is due after an answer, and its card for the next one; raises CardError."""
    from fsrs import Card
    from fsrs import Rating as Rated

    with _refused():
        card = Card.from_json(card_text) if card_text else Card(card_id=0, due=now)
        reviewed, _ = _scheduler().review_card(card, Rated[rating.capitalize()], now)
        return reviewed.due, reviewed.to_json()


def _scheduler() -> Any:
    """FSRS with one learning step: a wrong answer comes back in ten minutes, a right one after days."""
    from fsrs import Scheduler

    step = (timedelta(minutes=10),)
    return Scheduler(learning_steps=step, relearning_steps=step, enable_fuzzing=False)


def chance(card_text: str, now: datetime) -> float:
    """How likely an item would be known now; raises CardError."""
    from fsrs import Card

    with _refused():
        card = Card.from_json(card_text)
        if card.stability is not None and not 0 < card.stability < float("inf"):
            raise ValueError(f"{card.stability} is no stability")
        return float(_scheduler().get_card_retrievability(card, now))
