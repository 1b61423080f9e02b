"""Wrong: contexts of the first segment are kept, and those of the last are made again."""


def forward(blocks, x, rng, segments):
    n = len(blocks)
    edges = [i * n // segments for i in range(segments + 1)]
    starts, contexts = [], []
    for begin, end in zip(edges[:-1], edges[1:], strict=True):
        starts.append((begin, end, x, rng.bit_generator.state))
        for block in blocks[begin:end]:
            x, ctx = block.forward(x, rng)
            if begin == 0:
                contexts.append(ctx)
    return x, (starts, contexts)


def backward(blocks, state, grad_y, rng):
    starts, kept = state
    found = rng.bit_generator.state
    grad = grad_y
    for begin, end, x, there in reversed(starts):
        contexts = [] if begin else kept
        if begin:
            rng.bit_generator.state = there
            for block in blocks[begin:end]:
                x, ctx = block.forward(x, rng, again=True)
                contexts.append(ctx)
        for block in reversed(blocks[begin:end]):
            grad = block.backward(grad, contexts.pop())
    rng.bit_generator.state = found
    return grad


def best_segments(n, weight):
    return min(range(1, n + 1), key=lambda s: s - 1 + weight * -(-n // s))
