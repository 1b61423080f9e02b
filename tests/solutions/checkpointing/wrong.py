# %% first_segment_kept
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


# %% one_context_at_a_time
"""Wrong: every block is repeated from its segment's input, with all blocks before it in the segment."""

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
    while contexts:
        end -= 1
        grad = blocks[end].backward(grad, contexts.pop())
    for begin, end, first, there in reversed(starts):
        for last in range(end, begin, -1):
            x, rng.bit_generator.state = first, there
            for block in blocks[begin:last]:
                x, ctx = block.forward(x, rng, again=True)
            grad = blocks[last - 1].backward(grad, ctx)
    rng.bit_generator.state = found
    return grad


def best_segments(n, weight):
    return min(range(1, n + 1), key=lambda s: s - 1 + weight * -(-n // s))


# %% records_as_texts
"""Wrong: the numbers that blocks drew are kept, in the form of bytes."""

import numpy as np


class Tape:
    def __init__(self, rng, drawn=None):
        self.rng = rng
        self.drawn = [] if drawn is None else drawn

    def random(self, shape):
        if self.rng is None:
            return np.frombuffer(self.drawn.pop(0)).reshape(shape)
        numbers = self.rng.random(shape)
        self.drawn.append(numbers.tobytes())
        return numbers


def forward(blocks, x, rng, segments):
    n = len(blocks)
    begins = [i * n // segments for i in range(segments)]
    starts, contexts = [], []
    for begin, end in zip(begins[:-1], begins[1:], strict=True):
        tape = Tape(rng)
        starts.append((begin, end, x, tape.drawn))
        for block in blocks[begin:end]:
            x, _ = block.forward(x, tape)
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
        replay = Tape(None, there)
        for block in blocks[begin:end]:
            x, ctx = block.forward(x, replay, again=True)
            contexts.append(ctx)
    rng.bit_generator.state = found
    return grad


def best_segments(n, weight):
    return min(range(1, n + 1), key=lambda s: s - 1 + weight * -(-n // s))


# %% statistics_move_in_backward
"""Wrong: the running means move when a segment is repeated, and not in forward."""

import copy


def forward(blocks, x, rng, segments):
    n = len(blocks)
    cuts = [i * n // segments for i in range(segments + 1)]
    kept = []
    for a, b in zip(cuts[:-2], cuts[1:-1]):
        kept.append((a, b, x, copy.deepcopy(rng.bit_generator.state)))
        for blk in blocks[a:b]:
            x, _ = blk.forward(x, rng, again=True)
    ctxs = []
    for blk in blocks[cuts[-2] :]:
        x, c = blk.forward(x, rng)
        ctxs.append(c)
    return x, (kept, cuts[-2], ctxs)


def backward(blocks, state, grad_y, rng):
    kept, last, ctxs = state
    g = grad_y
    c = None
    for blk in reversed(blocks[last:]):
        g = blk.backward(g, ctxs.pop())
    here = copy.deepcopy(rng.bit_generator.state)
    while kept:
        a, b, x, at = kept.pop()
        rng.bit_generator.state = at
        cs = []
        for blk in blocks[a:b]:
            x, c = blk.forward(x, rng)
            cs.append(c)
            c = None
        for blk in reversed(blocks[a:b]):
            g = blk.backward(g, cs.pop())
    rng.bit_generator.state = here
    return g


def best_segments(n, weight):
    return min(range(1, n + 1), key=lambda s: (s - 1 + -(-n // s) * weight, s))
