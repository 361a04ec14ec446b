"""Values that the shell offers at Tab, beside the choices that the signatures hold. Nothing heavy is loaded."""

from __future__ import annotations

import typer


def topics(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """The topics of `lnorm explain` and what they are about; nothing once one is named."""
    from lnorm_cli.explain.topics import topics as all_topics

    return [] if ctx.params.get("topic") else [(topic.name, topic.title) for topic in all_topics()]


def item_topics(incomplete: str) -> list[str]:
    """The topics that lnorm's own questions are on."""
    from lnorm_cli.quiz.bank import TOPICS

    return list(TOPICS)


def cases(incomplete: str) -> list[str]:
    """The ids of the conformance cases."""
    from lnorm_cli.check.cases import case_ids

    return list(case_ids())
