"""When an item is due again: FSRS, by the package of that name, loaded only when asked."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Literal

Rating = Literal["again", "hard", "good", "easy"]


def review(card_text: str | None, rating: Rating, now: datetime) -> tuple[datetime, str]:
    """When an item is due after an answer, and its card for the next one."""
    from fsrs import Card
    from fsrs import Rating as Rated

    card = Card.from_json(card_text) if card_text else Card(card_id=0, due=now)
    reviewed, _ = _scheduler().review_card(card, Rated[rating.capitalize()], now)
    return reviewed.due, reviewed.to_json()


def _scheduler() -> Any:
    """FSRS with one learning step: a wrong answer comes back in ten minutes, a right one after days."""
    from fsrs import Scheduler

    step = (timedelta(minutes=10),)
    return Scheduler(learning_steps=step, relearning_steps=step, enable_fuzzing=False)


def chance(card_text: str, now: datetime) -> float:
    from fsrs import Card

    return float(_scheduler().get_card_retrievability(Card.from_json(card_text), now))
