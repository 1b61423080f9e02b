"""Right: what a repetition draws from is an object of its own, made from the noted place."""

import numpy as np


def _at(place):
    kind = getattr(np.random, place["bit_generator"])()
    kind.state = place
    return np.random.Generator(kind)


def forward(blocks, x, rng, segments):
    cut = np.linspace(0, len(blocks), segments + 1).round().astype(int)
    state = []
    for begin, end in zip(cut[:-1], cut[1:], strict=True):
        here = [int(begin), int(end), x, rng.bit_generator.state, None]
        if end == len(blocks):
            here[4] = []
        for block in blocks[begin:end]:
            x, ctx = block.forward(x, rng)
            if here[4] is not None:
                here[4].append(ctx)
        state.append(here)
    return x, state


def backward(blocks, state, grad_y, rng):
    grad = grad_y
    while state:
        begin, end, x, place, contexts = state.pop()
        if contexts is None:
            contexts, rng = [], _at(place)
            for block in blocks[begin:end]:
                x, ctx = block.forward(x, rng, again=True)
                contexts.append(ctx)
        for block in reversed(blocks[begin:end]):
            grad = block.backward(grad, contexts.pop())
    return grad


def best_segments(n, weight):
    kept = [weight * n]
    for s in range(2, n + 1):
        kept.append(s - 1 + weight * (n // s + (n % s > 0)))
    return 1 + kept.index(min(kept))
