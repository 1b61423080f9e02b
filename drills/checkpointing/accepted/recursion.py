"""Style: recursion over the segments; the way back through the calls is the way back in the stack."""

import contextlib


@contextlib.contextmanager
def standing_at(rng, there):
    found = rng.bit_generator.state
    rng.bit_generator.state = there
    try:
        yield rng
    finally:
        rng.bit_generator.state = found


def forward(blocks, x, rng, segments):
    n = len(blocks)
    edges = [k * n // segments for k in range(segments + 1)]
    boxes, y = [], x
    for first, last in zip(edges, edges[1:]):
        boxes.append([first, last, y, rng.bit_generator.state, []])
        for block in blocks[first:last]:
            y, ctx = block.forward(y, rng)
            if last == n:
                boxes[-1][4].append(ctx)
    return y, boxes


def backward(blocks, state, grad_y, rng):
    first, last, x, there, contexts = state[-1]
    if not contexts:
        with standing_at(rng, there):
            for block in blocks[first:last]:
                x, ctx = block.forward(x, rng, again=True)
                contexts.append(ctx)
        del ctx
    for block in reversed(blocks[first:last]):
        grad_y = block.backward(grad_y, contexts.pop())
    return backward(blocks, state[:-1], grad_y, rng) if first else grad_y


def best_segments(n, weight):
    return sorted((s - 1 + weight * (1 + (n - 1) // s), s) for s in range(1, n + 1))[0][1]
