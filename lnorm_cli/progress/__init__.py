"""A learner's progress, in one file."""

from lnorm_cli.progress.schedule import Rating
from lnorm_cli.progress.store import Answered, Scheduled, Store, due_first

__all__ = ["Answered", "Rating", "Scheduled", "Store", "due_first"]
