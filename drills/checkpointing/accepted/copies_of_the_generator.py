"""Style: repetitions draw from copies of the generator, so that the caller's is never touched."""

import copy

import numpy as np


def forward(blocks, x, rng, segments):
    parts = [part.tolist() for part in np.array_split(np.arange(len(blocks)), segments)]
    kept = []
    for part in parts[:-1]:
        kept.append((part, x, copy.deepcopy(rng)))
        for i in part:
            x = blocks[i].forward(x, rng)[0]
    stack = []
    for i in parts[-1]:
        x, ctx = blocks[i].forward(x, rng)
        stack.append((i, ctx))
    return x, {"stack": stack, "kept": kept}


def backward(blocks, state, grad_y, rng):
    grad, stack, kept = grad_y, state["stack"], state["kept"]
    while True:
        while stack:
            i, ctx = stack.pop()
            grad = blocks[i].backward(grad, ctx)
        if not kept:
            return grad
        part, x, own = kept.pop()
        for i in part:
            x, ctx = blocks[i].forward(x, own, again=True)
            stack.append((i, ctx))


def best_segments(n, weight):
    s = np.arange(1, n + 1)
    return int(s[np.argmin(s - 1 + weight * -(-n // s))])
