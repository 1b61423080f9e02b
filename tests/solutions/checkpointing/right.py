# %% clears_its_lists
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


# %% keeps_all_it_may
"""Right: keeps the blocks, the input of the last segment and y as well, in a class; prints along."""

class Tape:
    def __init__(self, blocks, segments):
        self.blocks = list(blocks)
        self.edges = [-(-i * len(blocks) // segments) for i in range(segments + 1)]
        self.inputs, self.places, self.contexts = [], [], []
        self.y = None

    def record(self, x, rng):
        for i, block in enumerate(self.blocks):
            if i in self.edges:
                self.inputs.append(x)
                self.places.append(rng.bit_generator.state)
            x, ctx = block.forward(x, rng)
            if i >= self.edges[-2]:
                self.contexts.append(ctx)
        self.y = x
        return x

    def play(self, segment, rng):
        print("again:", segment)
        x = self.inputs[segment]
        rng.bit_generator.state = self.places[segment]
        for block in self.blocks[self.edges[segment] : self.edges[segment + 1]]:
            x, ctx = block.forward(x, rng, again=True)
            self.contexts.append(ctx)

    def unwind(self, segment, grad):
        begin, end = self.edges[segment : segment + 2]
        for block in self.blocks[begin:end][::-1]:
            ctx = self.contexts.pop()
            grad = block.backward(grad, ctx)
        return grad


def forward(blocks, x, rng, segments):
    tape = Tape(blocks, segments)
    return tape.record(x, rng), tape


def backward(blocks, state, grad_y, rng):
    found = rng.bit_generator.state
    for segment in range(len(state.inputs) - 1, -1, -1):
        if not state.contexts:
            state.play(segment, rng)
        grad_y = state.unwind(segment, grad_y)
    rng.bit_generator.state = found
    return grad_y


def best_segments(n, weight):
    tried = [(s - 1 + weight * max(_lengths(n, s)), s) for s in range(1, n + 1)]
    return min(tried)[1]


def _lengths(n, s):
    return [(i + 1) * n // s - i * n // s for i in range(s)]


# %% own_generator_of_floats
"""Right: what a repetition draws from is an object of its own, made from the noted place."""

import numpy as np


def _at(place):
    kind = getattr(np.random, place["bit_generator"])()
    kind.state = place
    return np.random.Generator(kind)


def forward(blocks, x, rng, segments):
    cut = np.linspace(0, len(blocks), segments + 1).round().astype(int)
    state = []
    for begin, end in zip(cut[:-1], cut[1:], strict=True):
        here = [int(begin), int(end), x, rng.bit_generator.state, None]
        if end == len(blocks):
            here[4] = []
        for block in blocks[begin:end]:
            x, ctx = block.forward(x, rng)
            if here[4] is not None:
                here[4].append(ctx)
        state.append(here)
    return x, state


def backward(blocks, state, grad_y, rng):
    grad = grad_y
    while state:
        begin, end, x, place, contexts = state.pop()
        if contexts is None:
            contexts, rng = [], _at(place)
            for block in blocks[begin:end]:
                x, ctx = block.forward(x, rng, again=True)
                contexts.append(ctx)
        for block in reversed(blocks[begin:end]):
            grad = block.backward(grad, contexts.pop())
    return grad


def best_segments(n, weight):
    kept = [weight * n]
    for s in range(2, n + 1):
        kept.append(s - 1 + weight * (n // s + (n % s > 0)))
    return 1 + kept.index(min(kept))


# %% plain_loops
"""Right: plain loops over indices, numbers only in lists."""

def forward(blocks, x, rng, segments):
    n = len(blocks)
    begins = []
    i = 0
    while i < segments:
        begins.append(i * n // segments)
        i += 1
    inputs = []
    places = []
    contexts = []
    segment = 0
    i = 0
    while i < n:
        if segment < segments and begins[segment] == i:
            inputs.append(x)
            places.append(rng.bit_generator.state)
            segment += 1
        x, ctx = blocks[i].forward(x, rng)
        if segment == segments:
            contexts.append(ctx)
        i += 1
    return x, [begins, inputs, places, contexts]


def backward(blocks, state, grad_y, rng):
    begins, inputs, places, contexts = state
    before = rng.bit_generator.state
    grad = grad_y
    end = len(blocks)
    segment = len(begins) - 1
    while segment >= 0:
        begin = begins[segment]
        if not contexts:
            rng.bit_generator.state = places[segment]
            x = inputs[segment]
            i = begin
            while i < end:
                x, ctx = blocks[i].forward(x, rng, True)
                contexts.append(ctx)
                i += 1
        i = end - 1
        while i >= begin:
            grad = blocks[i].backward(grad, contexts.pop())
            i -= 1
        end = begin
        segment -= 1
    rng.bit_generator.state = before
    return grad


def best_segments(n, weight):
    best = 1
    least = weight * n
    s = 1
    while s <= n:
        longest = n // s
        if longest * s < n:
            longest += 1
        if s - 1 + weight * longest < least:
            best = s
            least = s - 1 + weight * longest
        s += 1
    return best


# %% statistics_put_back
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


# %% style_a
"""Style: that of always_eight_segments and others, repaired."""

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
    return min(range(1, n + 1), key=lambda s: s - 1 + weight * -(-n // s))
