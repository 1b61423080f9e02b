"""Right: repeats on shallow copies of the blocks as well, so that nothing of theirs can move."""

import copy


def forward(blocks, x, rng, segments):
    n = len(blocks)
    last = (segments - 1) * n // segments
    notes = {}
    for i in range(segments):
        begin, end = i * n // segments, (i + 1) * n // segments
        if begin == last:
            break
        notes[begin, end] = x, rng.bit_generator.state
        for k in range(begin, end):
            x = blocks[k].forward(x, rng)[0]
    contexts = {}
    for k in range(last, n):
        x, contexts[k] = blocks[k].forward(x, rng)
    return x, (notes, contexts)


def backward(blocks, state, grad_y, rng):
    notes, contexts = state
    grad = grad_y
    for k in sorted(contexts, reverse=True):
        grad = blocks[k].backward(grad, contexts.pop(k))
    for (begin, end), (x, place) in sorted(notes.items(), key=lambda item: -item[0][0]):
        own = copy.deepcopy(rng)
        own.bit_generator.state = place
        for k in range(begin, end):
            x, contexts[k] = copy.copy(blocks[k]).forward(x, own, again=True)
        for k in range(end - 1, begin - 1, -1):
            grad = blocks[k].backward(grad, contexts.pop(k))
    return grad


def best_segments(n, weight):
    return min((s - 1 + weight * len(range(0, n, s)), s) for s in range(1, n + 1))[1]
