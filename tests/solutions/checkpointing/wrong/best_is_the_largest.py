"""Wrong: best_segments gives the largest of several that keep as little."""


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
    found = rng.bit_generator.state
    grad, end = grad_y, len(blocks)
    while True:
        while contexts:
            end -= 1
            grad = blocks[end].backward(grad, contexts.pop())
        if not starts:
            break
        begin, end, x, there = starts.pop()
        rng.bit_generator.state = there
        for block in blocks[begin:end]:
            x, ctx = block.forward(x, rng, again=True)
            contexts.append(ctx)
    rng.bit_generator.state = found
    return grad


def best_segments(n, weight):
    return min(range(n, 0, -1), key=lambda s: s - 1 + weight * -(-n // s))
