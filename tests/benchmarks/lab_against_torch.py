"""Time the placement lab against the same experiment in torch with autograd.

Both sides draw the weights once, run four stacks forward and backward in float64, and take the norms of every
layer's gradients and activations. The best of several alternating rounds counts. Run with

    python tests/benchmarks/lab_against_torch.py [DEPTH] [WIDTH]
"""

from __future__ import annotations

import sys
import time

from lnorm_cli import lab
from lnorm_cli.lab import runs

KINDS = ("none", "residual", "post", "pre")
ROUNDS = 7


def ours(depth: int, width: int) -> list[list[float]]:
    runs.measure.cache_clear()
    runs.draw.cache_clear()
    return [list(run.gradients) for run in lab.compare(KINDS, depth, width, seed=0)]


def with_autograd(torch, depth: int, width: int, drawn=None) -> list[list[float]]:
    """The experiment as one writes it in torch; `drawn` puts the lab's own numbers in, to compare results."""
    norm = torch.nn.functional.layer_norm
    if drawn is None:
        random = torch.Generator().manual_seed(0)
        draw = lambda *shape: torch.randn(*shape, generator=random, dtype=torch.float64)  # noqa: E731
        x0, upstream = draw(runs.TOKENS, width), draw(runs.TOKENS, width)
        upstream /= upstream.norm(dim=-1, keepdim=True)
        matrices = [(draw(width, width) * width**-0.5, draw(width, width) * width**-0.5) for _ in range(depth)]
    else:
        x0, upstream = torch.tensor(drawn.x), torch.tensor(drawn.upstream)
        matrices = [(torch.tensor(own["W1"]), torch.tensor(own["W2"])) for own in drawn.matrices(depth)]
    results, weights = [], [(w1.requires_grad_(), w2.requires_grad_()) for w1, w2 in matrices]
    for kind in KINDS:
        for weight in (weight for pair in weights for weight in pair):
            weight.grad = None
        leaf = {"dtype": torch.float64, "requires_grad": True}
        scales = [(torch.ones(width, **leaf), torch.zeros(width, **leaf)) for _ in range(depth + 1)]
        x, stream = x0.clone().requires_grad_(), []
        stream.append(x)
        for (w1, w2), (gamma, beta) in zip(weights, scales[:-1], strict=True):
            inner = norm(x, (width,), gamma, beta) if kind == "pre" else x
            update = torch.relu(inner @ w1) @ w2
            x = update if kind == "none" else x + update
            if kind == "post":
                x = norm(x, (width,), gamma, beta)
            x.retain_grad()
            stream.append(x)
        if kind == "pre":
            x = norm(x, (width,), *scales[-1])
        x.backward(upstream)
        results.append([float(w2.grad.norm()) for _, w2 in weights])
        [float(w1.grad.norm()) for w1, _ in weights]
        [(float(value.grad.norm()), float(value.detach().square().mean())) for value in stream]
    return results


def main() -> None:
    try:
        import torch
    except ImportError:
        print("torch is not installed: nothing to compare with")
        return
    depth, width = (int(word) for word in (sys.argv[1:] + ["48", "128"][len(sys.argv) - 1 :]))
    drawn = runs.draw(width, 0, "ffn", runs.TOKENS)
    reference, own = with_autograd(torch, depth, width, drawn), ours(depth, width)
    worst = max(abs(a / b - 1) for one, other in zip(reference, own, strict=True)
                for a, b in zip(one, other, strict=True))  # fmt: skip
    best = {"lab": float("inf"), "torch": float("inf")}
    for _ in range(ROUNDS):
        for name, experiment in (("lab", ours), ("torch", lambda *size: with_autograd(torch, *size))):
            start = time.perf_counter()
            experiment(depth, width)
            best[name] = min(best[name], time.perf_counter() - start)
    print(f"depth {depth}, width {width}, kinds {' '.join(KINDS)}; torch {torch.__version__}")
    print(f"largest relative difference between the two sides' gradients: {worst:.1e}")
    print(f"lab {best['lab'] * 1e3:.1f} ms, torch with autograd {best['torch'] * 1e3:.1f} ms, "
          f"ratio lab / torch {best['lab'] / best['torch']:.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
