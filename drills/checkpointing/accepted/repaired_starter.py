"""Style: the starter with as little changed as possible."""


def forward(blocks, x, rng, segments):
    n = len(blocks)
    begins = [i * n // segments for i in range(segments)]
    inputs, contexts = [], []
    for i, block in enumerate(blocks):
        if i in begins:
            inputs.append((i, x, rng.bit_generator.state))
        if i < begins[-1]:
            x = block.forward(x, rng)[0]
        else:
            x, ctx = block.forward(x, rng)
            contexts.append(ctx)
    return x, (inputs, contexts)


def backward(blocks, state, grad_y, rng):
    inputs, contexts = state
    now = rng.bit_generator.state
    grad, end = grad_y, len(blocks)
    for begin, x, there in reversed(inputs):
        if end < len(blocks):
            rng.bit_generator.state = there
            for block in blocks[begin:end]:
                x, ctx = block.forward(x, rng, again=True)
                contexts.append(ctx)
        for block in reversed(blocks[begin:end]):
            ctx = contexts.pop()
            grad = block.backward(grad, ctx)
        end = begin
    rng.bit_generator.state = now
    return grad


def best_segments(n, weight):
    best, least = 1, weight * n
    for s in range(1, n + 1):
        kept = s - 1 + weight * -(-n // s)
        if kept < least:
            best, least = s, kept
    return best
