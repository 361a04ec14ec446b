"""Answers that are right although their last digits differ: floating point, cut or rounded digits."""

from __future__ import annotations

from dataclasses import replace

from lnorm_cli.arithmetic import Float
from lnorm_cli.faults.finding import Finding
from lnorm_cli.faults.problem import Problem
from lnorm_cli.faults.roundings import cut_off, rounded_right

FLOAT32_DIGITS = 9
"""Digits that tell every float32 from its neighbours."""

FLOAT32_FEWEST = 6
"""Digits from which on float32's noise may show."""

LARGE_REACH = 16.0
"""|x| / s from which on a rounded mean shows in typed digits."""


def harmless(problem: Problem) -> Finding | None:
    """Right at a floating-point type's precision, cut off, or rounded on the way."""
    right = at_precision(shown_precision(problem))
    if right is not None:
        return right
    if cut_off(problem):
        note = "Digits were cut off where they are to be rounded."
        return Finding("rounded", ("rounded-intermediate",), notes=(note,))
    habit = rounded_right(problem, harmful=False)
    if habit is not None:
        return Finding("rounded", ("rounded-intermediate",), evidence=(f"With {habit.words} it comes out so.",))
    return barely_shown(problem)


def at_precision(shorter: Problem | None) -> Finding | None:
    """Right at the precision of the type in which the problem is judged."""
    if shorter is None or not shorter.fits(shorter.spec):
        return None
    note = f"The numbers are those of a {shorter.answer.dtype} computation: right to its precision."
    return Finding("correct", notes=(note,), tolerance_of=shorter)


def barely_shown(problem: Problem) -> Finding | None:
    """Right but for float32's noise in the last of few digits: that of a sum that cancels may show in six."""
    if problem.answer.digits != FLOAT32_FEWEST:
        return None
    return at_precision(_of_program(problem, "float32"))


def _of_program(problem: Problem, dtype: str) -> Problem:
    """The problem with its answer taken for a program's in that type."""
    return replace(problem, answer=problem.answer.at(dtype), measured=float(problem.exactly))


def shown_precision(problem: Problem) -> Problem | None:
    """The problem judged at the floating-point type that typed numbers show, if they show one."""
    dtype = problem.answer.plausible_dtype()
    if not dtype:
        return None
    shorter = _of_program(problem, dtype)
    return at_dtype(shorter, dtype) if dtype in ("float16", "bfloat16") else shorter


def accepted(problem: Problem) -> bool:
    """Whether the answer is right at its digits, or at the precision of the type it shows."""
    if problem.fits(problem.spec):
        return True
    return at_precision(shown_precision(problem)) is not None


def large_offset(problem: Problem) -> Finding | None:
    """Right but for what a mean that is huge against the spread costs in floating point."""
    if problem.answer.typed:
        shorter = shown_precision(problem)
        if shorter is None and problem.answer.digits <= FLOAT32_DIGITS:
            shorter = replace(problem, answer=problem.answer.at("float32"))
        if shorter is None or shorter.reach() < LARGE_REACH:
            return None
        problem = shorter
    if not problem.fits_widely():
        return None
    evidence = f"In {problem.answer.dtype} a mean this large against the spread costs the digits that differ."
    return Finding("rounded", ("large-offset-rounding",), evidence=(evidence,))


def at_dtype(problem: Problem, dtype: str) -> Problem:
    """The problem with x, gamma and beta rounded to a floating-point type first."""
    arithmetic = Float(dtype)
    return replace(
        problem,
        x=arithmetic.array(problem.x),
        gamma=arithmetic.array(problem.gamma),
        beta=arithmetic.array(problem.beta),
    )
