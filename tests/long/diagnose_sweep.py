"""Every single mistake and every sensible pair, typed with 3 to 16 digits, and many right answers.

    python tests/long/diagnose_sweep.py [--pairs SHARE] [--right COUNT] [--seed SEED]

Prints how many distinguishable cases got their name, and how many right answers were accused. A case is distinguishable
when its digits differ from the right answer's and, for a pair, from those of either mistake alone.
"""

from __future__ import annotations

import argparse
import collections
import random
import sys
import time
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import mistakes
import right_answers

from lnorm_cli.faults import diagnose
from lnorm_cli.reading import parse_vector

DIGITS = (3, 4, 7, 9, 16)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=float, default=0.2, help="share of the pairs that is tried")
    parser.add_argument("--right", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=12)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    started = time.perf_counter()
    named = wrong_names(chance, arguments.pairs, arguments.show)
    print(f"{time.perf_counter() - started:.0f} s")
    accused = right_accused(chance, arguments.right, arguments.show)
    print(f"{time.perf_counter() - started:.0f} s")
    return 0 if named >= 0.99 and not accused else 1


def wrong_names(chance: random.Random, share: float, show: int) -> float:
    counts: dict[tuple[str, int], list[int]] = collections.defaultdict(lambda: [0, 0, 0])
    shown = 0
    for text in mistakes.VECTORS:
        x, gamma, beta = map(mistakes.numbers, text[:3])
        eps = Fraction(text[3])
        alone = {faults: mistakes.answer(x, gamma, beta, eps, faults) for faults in [(), *mistakes.singles()]}
        cases = [*mistakes.singles(), *(pair for pair in mistakes.pairs() if chance.random() < share)]
        for faults in cases:
            values = mistakes.answer(x, gamma, beta, eps, faults)
            for digits in DIGITS:
                given = mistakes.typed(values, digits)
                others = [()] if len(faults) == 1 else [f for f in alone if len(f) < 2]
                count = counts["single" if len(faults) == 1 else "pair", digits]
                if any(mistakes.typed(alone[f], digits) == given for f in others):
                    continue
                result = diagnose(
                    parse_vector(text[0]), given, gamma=parse_vector(text[1]), beta=parse_vector(text[2]), eps=eps
                )
                found = {frozenset(result.faults), *(frozenset(a.split("+")) for a in result.alternatives)}
                right = frozenset(faults) in found
                count[0] += 1
                count[1] += right
                count[2] += result.faults == faults or set(result.faults) == set(faults)
                if not right and shown < show:
                    shown += 1
                    print(
                        "missed:",
                        text[0],
                        "|",
                        faults,
                        digits,
                        given,
                        "->",
                        result.verdict,
                        result.faults,
                        result.alternatives,
                    )
    total = named = 0
    for (kind, digits), (tried, hits, first) in sorted(counts.items()):
        print(f"{kind:6} {digits:2} digits: {hits} of {tried} named ({hits / tried:.2%}), {first} of them first")
        total, named = total + tried, named + hits
    print(f"all: {named} of {total} ({named / total:.2%})")
    return named / total


def right_accused(chance: random.Random, count: int, show: int) -> int:
    verdicts: collections.Counter[str] = collections.Counter()
    accused = 0
    for case in right_answers.cases(chance, count):
        result = case.diagnose()
        verdicts[f"{case.kind}: {result.verdict}"] += 1
        if result.verdict not in ("correct", "rounded", "undecided"):
            accused += 1
            if accused <= show:
                print("accused:", case, "->", result.verdict, result.faults, result.alternatives, result.evidence)
    for name, number in sorted(verdicts.items()):
        print(f"right {name} {number}")
    print(f"accused: {accused} of {count}")
    return accused


if __name__ == "__main__":
    sys.exit(main())
