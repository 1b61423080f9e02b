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
