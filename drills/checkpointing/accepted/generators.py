"""Style: each segment is a coroutine, which waits for its gradient between forward and backward."""


def _segment(blocks, x, rng, last):
    contexts, first, there = [], x, rng.bit_generator.state
    for block in blocks:
        x, ctx = block.forward(x, rng)
        if last:
            contexts.append(ctx)
    del ctx
    grad, rng = yield x
    if not last:
        found = rng.bit_generator.state
        rng.bit_generator.state = there
        for block in blocks:
            first, ctx = block.forward(first, rng, again=True)
            contexts.append(ctx)
        del ctx
        rng.bit_generator.state = found
    for block in reversed(blocks):
        grad = block.backward(grad, contexts.pop())
    yield grad


def forward(blocks, x, rng, segments):
    n, waiting = len(blocks), []
    for i in range(segments):
        part = blocks[i * n // segments : (i + 1) * n // segments]
        waiting.append(_segment(part, x, rng, i == segments - 1))
        x = next(waiting[-1])
    return x, waiting


def backward(blocks, state, grad_y, rng):
    for segment in reversed(state):
        grad_y = segment.send((grad_y, rng))
    return grad_y


def best_segments(n, weight):
    root = int((weight * n) ** 0.5)
    nearby = {min(max(1, s), n) for s in range(1, 2 * root + 2)}
    return min(sorted(nearby), key=lambda s: s + weight * -(-n // s))
