"""Style: the state is a chain of functions from gradient to gradient, each calling the one before."""

from copy import deepcopy


def forward(blocks, x, rng, segments):
    q, r = divmod(len(blocks), segments)
    lengths = [q] * (segments - r) + [q + 1] * r
    back, begin = None, 0
    for number, length in enumerate(lengths):
        part = blocks[begin : begin + length]
        begin += length
        if number < segments - 1:
            x, back = _light(part, x, rng, back)
        else:
            x, back = _heavy(part, x, rng, back)
    return x, back


def _light(part, x, rng, before):
    there, start = deepcopy(rng.bit_generator.state), x
    for block in part:
        x, _ = block.forward(x, rng)

    def back(grad, generator):
        found = generator.bit_generator.state
        generator.bit_generator.state = there
        _, inner = _heavy(part, start, generator, before, again=True)
        generator.bit_generator.state = found
        return inner(grad, generator)

    return x, back


def _heavy(part, x, rng, before, again=False):
    contexts = []
    for block in part:
        x, ctx = block.forward(x, rng, again)
        contexts.append(ctx)
    ctx = None

    def back(grad, generator):
        for block in reversed(part):
            grad = block.backward(grad, contexts.pop())
        return before(grad, generator) if before else grad

    return x, back


def backward(blocks, state, grad_y, rng):
    return state(grad_y, rng)


def best_segments(n, weight):
    best = 1
    for s in range(2, n + 1):
        if s - 1 + weight * ((n + s - 1) // s) < best - 1 + weight * ((n + best - 1) // best):
            best = s
    return best
