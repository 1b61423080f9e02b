"""Right: pairs blocks and contexts with zip, and empties the list afterwards."""


def forward(blocks, x, rng, segments):
    n = len(blocks)
    begins = [i * n // segments for i in range(segments)]
    starts, contexts = [], []
    for begin, end in zip(begins[:-1], begins[1:], strict=True):
        starts.append((begin, end, x, rng.bit_generator.state))
        for block in blocks[begin:end]:
            x, _ = block.forward(x, rng)
    for block in blocks[begins[-1] :]:
        x, ctx = block.forward(x, rng)
        contexts.append(ctx)
    return x, (starts, contexts)


def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    before = dict(rng.bit_generator.state)
    size = len(contexts)
    for block, ctx in zip(blocks[: -size - 1 : -1], contexts[::-1], strict=True):
        grad_y = block.backward(grad_y, ctx)
    contexts.clear()
    for begin, end, x, there in starts[::-1]:
        rng.bit_generator.state = there
        for block in blocks[begin:end]:
            x, ctx = block.forward(x, rng, True)
            contexts.append(ctx)
        for block, ctx in zip(blocks[begin:end][::-1], contexts[::-1], strict=True):
            grad_y = block.backward(grad_y, ctx)
        contexts.clear()
    rng.bit_generator.state = before
    return grad_y


def best_segments(n, weight):
    return min(range(1, n + 1), key=lambda s: s - 1 + weight * -(-n // s))
