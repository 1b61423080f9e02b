# %% a-class-per-segment
"""Style: a segment is an object that knows how to run itself again."""

import math

class Segment:
    def __init__(self, blocks):
        self.blocks = blocks
        self.contexts = []

    def first(self, x, rng):
        self.x, self.there = x, rng.bit_generator.state
        for block in self.blocks:
            x = block.forward(x, rng)[0]
        return x

    def run(self, x, rng, **how):
        for block in self.blocks:
            x, ctx = block.forward(x, rng, **how)
            self.contexts.append(ctx)
        return x

    def back(self, grad, rng):
        if not self.contexts:
            now = rng.bit_generator.state
            rng.bit_generator.state = self.there
            self.run(self.x, rng, again=True)
            rng.bit_generator.state = now
        for block in self.blocks[::-1]:
            grad = block.backward(grad, self.contexts.pop())
        return grad

def forward(blocks, x, rng, segments):
    n = len(blocks)
    cut = [Segment(blocks[i * n // segments : (i + 1) * n // segments]) for i in range(segments)]
    for segment in cut[:-1]:
        x = segment.first(x, rng)
    return cut[-1].run(x, rng), cut

def backward(blocks, state, grad_y, rng):
    grad = grad_y
    while state:
        grad = state.pop().back(grad, rng)
    return grad

def best_segments(n, weight):
    costs = {s: s - 1 + weight * math.ceil(n / s) for s in range(1, n + 1)}
    least = min(costs.values())
    return next(s for s in costs if costs[s] == least)

# %% closures
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

# %% copies-of-the-generator
"""Style: repetitions draw from copies of the generator, so that the caller's is never touched."""

import copy

import numpy as np

def forward(blocks, x, rng, segments):
    parts = [part.tolist() for part in np.array_split(np.arange(len(blocks)), segments)]
    kept = []
    for part in parts[:-1]:
        kept.append((part, x, copy.deepcopy(rng)))
        for i in part:
            x = blocks[i].forward(x, rng)[0]
    stack = []
    for i in parts[-1]:
        x, ctx = blocks[i].forward(x, rng)
        stack.append((i, ctx))
    return x, {"stack": stack, "kept": kept}

def backward(blocks, state, grad_y, rng):
    grad, stack, kept = grad_y, state["stack"], state["kept"]
    while True:
        while stack:
            i, ctx = stack.pop()
            grad = blocks[i].backward(grad, ctx)
        if not kept:
            return grad
        part, x, own = kept.pop()
        for i in part:
            x, ctx = blocks[i].forward(x, own, again=True)
            stack.append((i, ctx))

def best_segments(n, weight):
    s = np.arange(1, n + 1)
    return int(s[np.argmin(s - 1 + weight * -(-n // s))])

# %% generators
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

# %% packed-bytes
"""Style: inputs and places of the generator are packed as bytes, unpacked when needed."""

import dataclasses
import pickle
from typing import Any

import numpy as np

@dataclasses.dataclass
class State:
    packed: list[bytes]
    begins: list[int]
    contexts: list[Any]

def forward(blocks, x, rng, segments):
    n = len(blocks)
    begins = [(i * n + segments - 1) // segments for i in range(segments)]
    packed = []
    for i in range(begins[-1]):
        if i in begins:
            packed.append(pickle.dumps((x, rng.bit_generator.state)))
        x, _ = blocks[i].forward(x, rng)
    contexts = []
    for block in blocks[begins[-1] :]:
        x, ctx = block.forward(x, rng)
        contexts.append(ctx)
    return x, State(packed, begins, contexts)

def backward(blocks, state, grad_y, rng):
    end = len(blocks)
    for number in range(len(state.begins) - 1, -1, -1):
        begin = state.begins[number]
        if number < len(state.packed):
            x, place = pickle.loads(state.packed.pop())
            fresh = np.random.Generator(type(rng.bit_generator)())
            fresh.bit_generator.state = place
            for block in blocks[begin:end]:
                x, ctx = block.forward(x, fresh, again=True)
                state.contexts.append(ctx)
        for i in range(end - 1, begin - 1, -1):
            ctx = None
            grad_y = blocks[i].backward(grad_y, state.contexts.pop())
        end = begin
    return grad_y

def best_segments(n, weight):
    return int(np.argmin([s + weight * -(-n // s) for s in range(1, n + 1)])) + 1

# %% recursion
"""Style: recursion over the segments; the way back through the calls is the way back in the stack."""

import contextlib

@contextlib.contextmanager
def standing_at(rng, there):
    found = rng.bit_generator.state
    rng.bit_generator.state = there
    try:
        yield rng
    finally:
        rng.bit_generator.state = found

def forward(blocks, x, rng, segments):
    n = len(blocks)
    edges = [k * n // segments for k in range(segments + 1)]
    boxes, y = [], x
    for first, last in zip(edges, edges[1:]):
        boxes.append([first, last, y, rng.bit_generator.state, []])
        for block in blocks[first:last]:
            y, ctx = block.forward(y, rng)
            if last == n:
                boxes[-1][4].append(ctx)
    return y, boxes

def backward(blocks, state, grad_y, rng):
    first, last, x, there, contexts = state[-1]
    if not contexts:
        with standing_at(rng, there):
            for block in blocks[first:last]:
                x, ctx = block.forward(x, rng, again=True)
                contexts.append(ctx)
        del ctx
    for block in reversed(blocks[first:last]):
        grad_y = block.backward(grad_y, contexts.pop())
    return backward(blocks, state[:-1], grad_y, rng) if first else grad_y

def best_segments(n, weight):
    return sorted((s - 1 + weight * (1 + (n - 1) // s), s) for s in range(1, n + 1))[0][1]

# %% repaired-starter
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

# %% checkpoint-sequential
# part: 2
"""As in torch.utils.checkpoint: a function per segment, its arguments and the random state kept."""

class CheckpointFunction:
    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, x, rng):
        ctx.run_function = run_function
        ctx.preserve_rng_state = preserve_rng_state
        if preserve_rng_state:
            ctx.fwd_cpu_state = rng.bit_generator.state
        ctx.saved = x
        return run_function(x, rng, False)[0]

    @staticmethod
    def backward(ctx, blocks, grad, rng):
        now = rng.bit_generator.state
        try:
            if ctx.preserve_rng_state:
                rng.bit_generator.state = ctx.fwd_cpu_state
            _, contexts = ctx.run_function(ctx.saved, rng, True)
        finally:
            rng.bit_generator.state = now
        return run_backward(blocks, contexts, grad)

class Saved:
    pass

def run_function(start, end, functions):
    def forward(x, rng, again):
        contexts = []
        for j in range(start, end + 1):
            x, ctx = functions[j].forward(x, rng, again=again)
            contexts.append(ctx)
        return x, contexts

    return forward

def run_backward(blocks, contexts, grad):
    for block, ctx in zip(blocks[::-1], contexts[::-1], strict=True):
        grad = block.backward(grad, ctx)
    return grad

def forward(blocks, x, rng, segments):
    if not 1 <= segments <= len(blocks):
        raise ValueError("segments must be between 1 and the number of blocks")
    segment_size = len(blocks) // segments
    # the last chunk has to be non-volatile
    end, saved = -1, []
    for start in range(0, segment_size * (segments - 1), segment_size):
        end = start + segment_size - 1
        ctx = Saved()
        ctx.bounds = start, end + 1
        x = CheckpointFunction.forward(ctx, run_function(start, end, blocks), True, x, rng)
        saved.append(ctx)
    x, contexts = run_function(end + 1, len(blocks) - 1, blocks)(x, rng, False)
    return x, (saved, end + 1, contexts)

def backward(blocks, state, grad_y, rng):
    saved, start, contexts = state
    grad = run_backward(blocks[start:], contexts, grad_y)
    for ctx in reversed(saved):
        begin, end = ctx.bounds
        grad = CheckpointFunction.backward(ctx, blocks[begin:end], grad, rng)
    return grad

# %% one-checkpoint-at-a-time
# part: 1
"""As in exercises: segments of contexts or of inputs, written out; dropout is not thought of yet."""

def forward(blocks, x, rng, segments):
    n = len(blocks)
    sizes = [n // segments + (1 if i < n % segments else 0) for i in range(segments)]
    checkpoints = []
    start = 0
    for size in sizes[:-1]:
        checkpoints.append((start, start + size, x))
        for block in blocks[start : start + size]:
            x = block.forward(x, rng)[0]
        start += size
    activations = []
    for block in blocks[start:]:
        x, ctx = block.forward(x, rng)
        activations.append(ctx)
    return x, {"checkpoints": checkpoints, "activations": activations, "last": start}

def backward(blocks, state, grad_y, rng):
    grad = grad_y
    for block, ctx in zip(
        reversed(blocks[state["last"] :]), reversed(state["activations"]), strict=True
    ):
        grad = block.backward(grad, ctx)
    for start, end, x in reversed(state["checkpoints"]):
        activations = []
        for block in blocks[start:end]:
            x, ctx = block.forward(x, rng, again=True)
            activations.append(ctx)
        for block, ctx in zip(reversed(blocks[start:end]), reversed(activations), strict=True):
            grad = block.backward(grad, ctx)
    return grad
