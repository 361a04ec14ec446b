"""Theorem 1 and Lemma 2 of Xiong et al. 2020 (arXiv 2002.04745) over depth 6 to 96 and five seeds, width 128.

Prints every figure and exits with 1 where a scaling is not flat within 25%. Run with

    python tests/long/lab_scaling.py
"""

from __future__ import annotations

import sys

import numpy as np

from lnorm_cli import lab

DEPTHS = (6, 12, 24, 48, 96)
SEEDS = range(5)
KINDS = ("none", "residual", "post", "pre", "pre-no-final", "sandwich", "deepnorm", "dyt", "pre-rms")
WIDTH = 128
MOST = 1.25


def main() -> int:
    rows = [lab.depths(KINDS, DEPTHS, WIDTH, seed) for seed in SEEDS]
    print(lab.SETUP)
    print(f"width {WIDTH}, {lab.TOKENS} tokens, seeds 0 to 4\n")
    last = np.array([[[run.last_gradient for run in row] for row in own] for own in rows])  # seed, depth, kind
    print("gradient of the last layer's output matrix, mean over the seeds")
    print(f"{'kind':14}" + "".join(f"{f'L = {depth}':>12}" for depth in DEPTHS))
    for index, kind in enumerate(KINDS):
        print(f"{kind:14}" + "".join(f"{value:12.3g}" for value in last[:, :, index].mean(axis=0)))
    print("\nfirst layer's over last layer's gradient, geometric mean over the seeds")
    ratios = np.array([[[run.ratio for run in row] for row in own] for own in rows])
    for index, kind in enumerate(KINDS):
        print(f"{kind:14}" + "".join(f"{value:12.3g}" for value in np.exp(np.log(ratios[:, :, index]).mean(axis=0))))
    good = True
    print("\nTheorem 1: largest over smallest across the depths")
    for kind, power in (("post", 0), ("pre", 0.5)):
        scaled = last[:, :, KINDS.index(kind)] * np.array(DEPTHS) ** power
        each = scaled.max(axis=1) / scaled.min(axis=1)
        mean = scaled.mean(axis=0).max() / scaled.mean(axis=0).min()
        good &= bool(each.max() <= MOST and mean <= MOST)
        print(f"{kind:14} times L^{power}: mean {mean:.3f}; by seed {' '.join(f'{value:.3f}' for value in each)}")
    print("\nLemma 2: Post-LN's sums (3/2); Pre-LN's sizes behind the last layer, over 1 + L/2 (feed-forward alone)")
    for index, depth in enumerate(DEPTHS):
        post = [np.mean(own[index][KINDS.index("post")].sums) for own in rows]
        pre = [own[index][KINDS.index("pre")].activations[-1] / (1 + depth / 2) for own in rows]
        good &= abs(np.mean(post) / 1.5 - 1) < 0.1 and abs(np.mean(pre) - 1) < 0.1
        print(
            f"L = {depth:3}  {' '.join(f'{value:.3f}' for value in post)}   {' '.join(f'{value:.3f}' for value in pre)}"
        )
    print("\n" + ("all within bounds" if good else "NOT within bounds"))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
