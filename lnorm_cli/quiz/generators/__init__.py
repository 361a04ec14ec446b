"""Numeric questions made from a seed: the same seed gives the same question on every version of Python."""

from __future__ import annotations

from functools import cache

from lnorm_cli.quiz.generators.base import Generator


@cache
def generators() -> dict[str, Generator]:
    """Every generator, by name."""
    from lnorm_cli.quiz.generators import affine, backward, blocks, counting, epsilon, precision, statistics

    modules = (statistics, affine, epsilon, blocks, counting, precision, backward)
    return {generator.name: generator for module in modules for generator in module.GENERATORS}


__all__ = ["Generator", "generators"]
