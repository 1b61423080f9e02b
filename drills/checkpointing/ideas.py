# %% counts-statistics-twice
# killed_by: statistics
"""The running means of blocks that are run again move twice per step. A mean that moves by a tenth
of the way per call then moves by 0.19 of it. The numbers of the pass itself do not show that,
because the means take no part in them. Repeat with again=True."""

def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    found = _saved(rng)
    grad = _unwound(blocks[-len(contexts) :], contexts, grad_y)
    for begin, end, x, there in reversed(starts):
        _restore(rng, there)
        _, contexts = _run(blocks[begin:end], x, rng, False)
        grad = _unwound(blocks[begin:end], contexts, grad)
    _restore(rng, found)
    return grad

# %% counts-statistics-twice / counts-all-statistics-twice
def forward(blocks, x, rng, segments):
    begins = [*_begins(len(blocks), segments), len(blocks)]
    starts = []
    for begin, end in zip(begins[:-1], begins[1:], strict=True):
        starts.append((begin, end, x, _saved(rng)))
        for block in blocks[begin:end]:
            x, _ = block.forward(x, rng)
    return x, starts

def backward(blocks, state, grad_y, rng):
    found, grad = _saved(rng), grad_y
    for begin, end, x, there in reversed(state):
        _restore(rng, there)
        _, contexts = _run(blocks[begin:end], x, rng, False)
        grad = _unwound(blocks[begin:end], contexts, grad)
    _restore(rng, found)
    return grad

# %% statistics-never-move
# killed_by: statistics
"""The running means do not move at all: the first run of a block is called a repetition as well. It
is the first one that moves them."""

def forward(blocks, x, rng, segments):
    begins = _begins(len(blocks), segments)
    starts = []
    for begin, end in itertools.pairwise(begins):
        starts.append((begin, end, x, _saved(rng)))
        for block in blocks[begin:end]:
            x, _ = block.forward(x, rng, again=True)
    x, contexts = _run(blocks[begins[-1] :], x, rng, True)
    return x, (starts, contexts)

# %% statistics-move-in-backward
# killed_by: halfway
"""Your first run of a block is called the repetition, and the repetition moves the running means. After
one step they are right; but whoever looks between forward and backward finds them where they were,
and if a later batch goes backward first, they move in the wrong order. The first run moves them."""

def forward(blocks, x, rng, segments):
    begins = _begins(len(blocks), segments)
    starts = []
    for begin, end in itertools.pairwise(begins):
        starts.append((begin, end, x, _saved(rng)))
        for block in blocks[begin:end]:
            x, _ = block.forward(x, rng, again=True)
    x, contexts = _run(blocks[begins[-1] :], x, rng, False)
    return x, (starts, contexts)

def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    found = _saved(rng)
    grad = _unwound(blocks[-len(contexts) :], contexts, grad_y)
    for begin, end, x, there in reversed(starts):
        _restore(rng, there)
        _, contexts = _run(blocks[begin:end], x, rng, False)
        grad = _unwound(blocks[begin:end], contexts, grad)
    _restore(rng, found)
    return grad

# %% segments-in-forward-order
# killed_by: gradient
"""The segments are gone through backward from the first to the last. What arrives is the gradient
of the last block's output, so the last segment has to come first, and hand on what it makes of it.
"""

def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    found, grad = _saved(rng), grad_y
    for begin, end, x, there in starts:
        _restore(rng, there)
        _, again = _run(blocks[begin:end], x, rng, True)
        grad = _unwound(blocks[begin:end], again, grad)
    grad = _unwound(blocks[-len(contexts) :], contexts, grad)
    _restore(rng, found)
    return grad

# %% contexts-in-forward-order
# killed_by: gradient
"""Within a segment each block gets the context of another one: the last block that of the first,
and so on. Blocks are gone through from the last to the first, and their contexts have to be, too.
Usually a list is reversed and the other is not."""

def _unwound(blocks, contexts, grad):
    for block in reversed(blocks):
        grad = block.backward(grad, contexts.pop(0))
    return grad

# %% begins-where-it-ended
# killed_by: gradient
"""Each repetition begins with what came out of its segment, not with what went in. Then every
context in it belongs to another input. Note x before the first block of the segment is run."""

def forward(blocks, x, rng, segments):
    begins = _begins(len(blocks), segments)
    starts = []
    for begin, end in zip(begins[:-1], begins[1:], strict=True):
        there = _saved(rng)
        for block in blocks[begin:end]:
            x, _ = block.forward(x, rng)
        starts.append((begin, end, x, there))
    x, contexts = _run(blocks[begins[-1] :], x, rng, False)
    return x, (starts, contexts)

# %% gradient-begins-anew
# killed_by: gradient
"""Each repeated segment gets grad_y, the gradient of the last block's output, and not what the
segment after it hands on. So grad_x is that of the first segment alone."""

def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    found = _saved(rng)
    grad = _unwound(blocks[-len(contexts) :], contexts, grad_y)
    for begin, end, x, there in reversed(starts):
        _restore(rng, there)
        _, contexts = _run(blocks[begin:end], x, rng, True)
        grad = _unwound(blocks[begin:end], contexts, grad_y)
    _restore(rng, found)
    return grad

# %% tail-dropped
# killed_by: ragged
"""Where the number of segments does not divide that of the blocks, the last blocks are never run:
all segments have n // segments blocks. Let lengths differ by one, for instance by beginning segment
i at i * n // segments."""

def forward(blocks, x, rng, segments):
    length = len(blocks) // segments
    starts = []
    for begin in range(0, length * (segments - 1), length):
        starts.append((begin, begin + length, x, _saved(rng)))
        for block in blocks[begin : begin + length]:
            x, _ = block.forward(x, rng)
    begin = length * (segments - 1)
    x, contexts = _run(blocks[begin : begin + length], x, rng, False)
    return x, (starts, begin, contexts)

def backward(blocks, state, grad_y, rng):
    starts, last, contexts = state
    found = _saved(rng)
    grad = _unwound(blocks[last : last + len(contexts)], contexts, grad_y)
    for begin, end, x, there in reversed(starts):
        _restore(rng, there)
        _, contexts = _run(blocks[begin:end], x, rng, True)
        grad = _unwound(blocks[begin:end], contexts, grad)
    _restore(rng, found)
    return grad

# %% keeps-everything
# killed_by: kept
"""Every context is still there when backward begins, 192 arrays of the size of x for 64 blocks;
nothing is saved. That is a plain pass, or a single segment. Let the contexts of all segments but
the last go, and make them again."""

def forward(blocks, x, rng, segments):
    return _run(blocks, x, rng, False)

def backward(blocks, state, grad_y, rng):
    return _unwound(blocks, state, grad_y)

# %% every-block-a-segment
# killed_by: kept
"""The input of every block is kept, about 64 arrays of the size of x for 64 blocks, whatever
`segments` says. Then it is the inputs that fill the memory. Keep the input of each segment, run the
whole segment again from there, and have one segment's contexts at a time."""

def _begins(n, segments):
    return list(range(n))

# %% every-block-a-segment / every-block-run-again
def forward(blocks, x, rng, segments):
    starts = []
    for block in blocks:
        starts.append((x, _saved(rng)))
        x, _ = block.forward(x, rng)
    return x, starts

def backward(blocks, state, grad_y, rng):
    found, grad = _saved(rng), grad_y
    for block, (x, there) in zip(reversed(blocks), reversed(state), strict=True):
        _restore(rng, there)
        _, ctx = block.forward(x, rng, again=True)
        grad = block.backward(grad, ctx)
    _restore(rng, found)
    return grad

# %% no-replay
# killed_by: dropout
"""Repetitions draw from wherever the generator stands by then, so they drop other elements than the
forward pass did. y is right, and the gradients are those of another network. Note the generator's
state at the beginning of each segment, as a copy, and go back to it. Where a generator, not its
state, was noted, it has moved on with everybody else."""

def _restore(rng, there):
    pass

# %% no-replay / put-back
def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    found = _saved(rng)
    grad = _unwound(blocks[-len(contexts) :], contexts, grad_y)
    for begin, end, x, _ in reversed(starts):
        _, contexts = _run(blocks[begin:end], x, rng, True)
        grad = _unwound(blocks[begin:end], contexts, grad)
    _restore(rng, found)
    return grad

# %% no-replay / of-all
def forward(blocks, x, rng, segments):
    begins = [*_begins(len(blocks), segments), len(blocks)]
    starts = []
    for begin, end in zip(begins[:-1], begins[1:], strict=True):
        starts.append((begin, end, x))
        for block in blocks[begin:end]:
            x, _ = block.forward(x, rng)
    return x, starts

def backward(blocks, state, grad_y, rng):
    grad = grad_y
    for begin, end, x in reversed(state):
        _, contexts = _run(blocks[begin:end], x, rng, True)
        grad = _unwound(blocks[begin:end], contexts, grad)
    return grad

# %% nothing-dropped-again
# killed_by: dropout
"""Dropout is off in your repetitions, as if they were evaluation. What is repeated is the forward
pass as it was, with every element that it dropped."""

_repeated = _run

def _run(blocks, x, rng, again):
    rates = [block.drop for block in blocks]
    for block in blocks if again else ():
        block.drop = 0.0
    found = _repeated(blocks, x, rng, again)
    for block, rate in zip(blocks, rates, strict=True):
        block.drop = rate
    return found

# %% rewinds-once
# killed_by: dropout
"""The generator goes back once, for the first segment that is repeated, and the others draw on from
there. Segments are repeated from the last to the first, and their random numbers were drawn from
the first to the last: go back for each of them."""

def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    found = _saved(rng)
    grad = _unwound(blocks[-len(contexts) :], contexts, grad_y)
    if starts:
        _restore(rng, starts[-1][3])
    for begin, end, x, _ in reversed(starts):
        _, contexts = _run(blocks[begin:end], x, rng, True)
        grad = _unwound(blocks[begin:end], contexts, grad)
    _restore(rng, found)
    return grad

# %% replays-from-the-start
# killed_by: dropout
"""All segments are repeated from the generator's state at the beginning of the first one. That is
right for the first one alone: note the state for each segment."""

def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    found = _saved(rng)
    grad = _unwound(blocks[-len(contexts) :], contexts, grad_y)
    for begin, end, x, _ in reversed(starts):
        _restore(rng, starts[0][3])
        _, contexts = _run(blocks[begin:end], x, rng, True)
        grad = _unwound(blocks[begin:end], contexts, grad)
    _restore(rng, found)
    return grad

# %% reseeds
# killed_by: dropout
# parameters: {SEED: [0, 1, 42]}
"""Each repetition draws from a generator seeded with {SEED}. The forward pass did not run from
there, so other elements are dropped. Note where the generator stood at the beginning of each
segment, and repeat from there."""

import numpy as np

SEED = 0

def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    grad = _unwound(blocks[-len(contexts) :], contexts, grad_y)
    for begin, end, x, _ in reversed(starts):
        _, contexts = _run(blocks[begin:end], x, np.random.default_rng(SEED), True)
        grad = _unwound(blocks[begin:end], contexts, grad)
    return grad

# %% state-of-the-segments-end
# killed_by: dropout
"""Each segment is repeated from the generator's state at its end, with the random numbers of the
segment after it. Note the state before the first block of the segment is run, beside its input."""

def forward(blocks, x, rng, segments):
    begins = _begins(len(blocks), segments)
    starts = []
    for begin, end in zip(begins[:-1], begins[1:], strict=True):
        before = x
        for block in blocks[begin:end]:
            x, _ = block.forward(x, rng)
        starts.append((begin, end, before, _saved(rng)))
    x, contexts = _run(blocks[begins[-1] :], x, rng, False)
    return x, (starts, contexts)

# %% rewinds-for-every-block
# killed_by: dropout
"""Within a repetition every block draws from the state at the beginning of its segment, so all of
them drop the same elements. Go back once per segment, and let its blocks draw one after another."""

def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    found = _saved(rng)
    grad = _unwound(blocks[-len(contexts) :], contexts, grad_y)
    for begin, end, x, there in reversed(starts):
        for block in blocks[begin:end]:
            _restore(rng, there)
            x, ctx = block.forward(x, rng, again=True)
            contexts.append(ctx)
        del ctx
        grad = _unwound(blocks[begin:end], contexts, grad)
    _restore(rng, found)
    return grad

# %% left-in-the-repetition
# killed_by: generator
"""After backward the generator stands where its last repetition ended, within the forward pass. The
next step draws numbers that have been used. Note where backward finds it, and put it back there."""

def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    grad = _unwound(blocks[-len(contexts) :], contexts, grad_y)
    for begin, end, x, there in reversed(starts):
        _restore(rng, there)
        _, contexts = _run(blocks[begin:end], x, rng, True)
        grad = _unwound(blocks[begin:end], contexts, grad)
    return grad

# %% left-at-the-beginning
# killed_by: generator
"""After backward the generator stands where forward found it, before anything was drawn. The next
step drops the same elements again. Note where backward finds it, and put it back there."""

_in_place = backward

def backward(blocks, state, grad_y, rng):
    first = state[0][0][3] if state[0] else None
    grad = _in_place(blocks, state, grad_y, rng)
    if first is not None:
        _restore(rng, first)
    return grad

# %% left-where-forward-ended
# killed_by: generator
"""After backward the generator stands where forward left it. What was drawn in between is drawn a
second time. Note where backward finds it, and put it back there."""

def forward(blocks, x, rng, segments):
    begins = _begins(len(blocks), segments)
    starts = []
    for begin, end in zip(begins[:-1], begins[1:], strict=True):
        starts.append((begin, end, x, _saved(rng)))
        for block in blocks[begin:end]:
            x, _ = block.forward(x, rng)
    x, contexts = _run(blocks[begins[-1] :], x, rng, False)
    return x, (starts, contexts, _saved(rng))

def backward(blocks, state, grad_y, rng):
    starts, contexts, ended = state
    grad = _unwound(blocks[-len(contexts) :], contexts, grad_y)
    for begin, end, x, there in reversed(starts):
        _restore(rng, there)
        _, contexts = _run(blocks[begin:end], x, rng, True)
        grad = _unwound(blocks[begin:end], contexts, grad)
    _restore(rng, ended)
    return grad

# %% latest-generator-states
# killed_by: in-flight
"""Repetitions use the generator's states of the latest forward pass, whichever state backward is
given. With a second batch on its way the first one is repeated with the random numbers of the
second. Usually they are kept in the module; they belong in state."""

_there = []

def forward(blocks, x, rng, segments):
    begins = _begins(len(blocks), segments)
    starts = []
    _there.clear()
    for begin, end in zip(begins[:-1], begins[1:], strict=True):
        starts.append((begin, end, x))
        _there.append(_saved(rng))
        for block in blocks[begin:end]:
            x, _ = block.forward(x, rng)
    x, contexts = _run(blocks[begins[-1] :], x, rng, False)
    return x, (starts, contexts)

def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    found = _saved(rng)
    grad = _unwound(blocks[-len(contexts) :], contexts, grad_y)
    for (begin, end, x), there in zip(reversed(starts), reversed(_there), strict=True):
        _restore(rng, there)
        _, contexts = _run(blocks[begin:end], x, rng, True)
        grad = _unwound(blocks[begin:end], contexts, grad)
    _restore(rng, found)
    return grad

# %% gradient-in-place
# killed_by: gradient
"""backward writes into grad_y, which is the caller's. In a graph the same array may arrive at
several places, and each of them finds it changed. A gradient of the size of x is one array among
thirty; return a new one."""

def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    found = _saved(rng)
    grad_y[...] = _unwound(blocks[-len(contexts) :], contexts, grad_y)
    for begin, end, x, there in reversed(starts):
        _restore(rng, there)
        _, contexts = _run(blocks[begin:end], x, rng, True)
        grad_y[...] = _unwound(blocks[begin:end], contexts, grad_y)
    _restore(rng, found)
    return grad_y

# %% keeps-random-numbers
# killed_by: kept-random
"""All random numbers of the repeated segments are kept, an array of the size of x for each block
that drops. For 64 blocks that is more than the contexts of a segment. A generator's state is a few
numbers, and gives all of them again."""

class _Recorder:
    def __init__(self, rng):
        self.rng = rng
        self.drawn = []

    def random(self, *shape):
        self.drawn.append(self.rng.random(*shape))
        return self.drawn[-1]

class _Player:
    def __init__(self, drawn):
        self.drawn = iter(drawn)

    def random(self, *_):
        return next(self.drawn)

def forward(blocks, x, rng, segments):
    begins = _begins(len(blocks), segments)
    starts = []
    for begin, end in zip(begins[:-1], begins[1:], strict=True):
        recorder = _Recorder(rng)
        starts.append((begin, end, x, recorder.drawn))
        for block in blocks[begin:end]:
            x, _ = block.forward(x, recorder)
    x, contexts = _run(blocks[begins[-1] :], x, rng, False)
    return x, (starts, contexts)

def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    grad = _unwound(blocks[-len(contexts) :], contexts, grad_y)
    for begin, end, x, drawn in reversed(starts):
        _, contexts = _run(blocks[begin:end], x, _Player(drawn), True)
        grad = _unwound(blocks[begin:end], contexts, grad)
    return grad

# %% frees-at-the-end
# killed_by: alive
"""The contexts of all blocks exist at once, 64 for 64 blocks, as many as in a plain pass: those of
forward until it ends, or those of backward until it ends. What is saved in between does not help
then. In forward keep none but the last segment's; in backward let each go as soon as it has been
used."""

def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    found = _saved(rng)
    every = [contexts]
    grad = _unwound(blocks[-len(contexts) :], list(contexts), grad_y)
    for begin, end, x, there in reversed(starts):
        _restore(rng, there)
        _, contexts = _run(blocks[begin:end], x, rng, True)
        every.append(contexts)
        grad = _unwound(blocks[begin:end], list(contexts), grad)
    _restore(rng, found)
    return grad

# %% frees-at-the-end / collects-in-forward
def forward(blocks, x, rng, segments):
    begins = _begins(len(blocks), segments)
    starts, contexts = [], []
    for i, block in enumerate(blocks):
        if i in begins:
            starts.append((i, x, _saved(rng)))
        x, ctx = block.forward(x, rng)
        contexts.append(ctx)
    ends = [begin for begin, _, _ in starts[1:]]
    return x, (
        [(b, e, before, there) for (b, before, there), e in zip(starts[:-1], ends, strict=True)],
        contexts[begins[-1] :],
    )

# %% contexts-outlive-their-segment
# killed_by: alive
"""The contexts of two or three segments exist at once, 16 or 24 for 64 blocks in 8 segments, in
forward or in backward. Usually a name still leads to those of one segment while those of the next
are made, or state leads to the last segment's. Take them off their list as you use them, and make
no list where you do not need one."""

def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    found = _saved(rng)
    grad = _unwound(blocks[-len(contexts) :], contexts, grad_y)
    for begin, end, x, there in reversed(starts):
        _restore(rng, there)
        _, contexts = _run(blocks[begin:end], x, rng, True)
        grad = _unwound(blocks[begin:end], list(contexts), grad)
    _restore(rng, found)
    return grad

# %% contexts-outlive-their-segment / outlive-with-the-state
def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    found = _saved(rng)
    grad = _unwound(blocks[-len(contexts) :], list(contexts), grad_y)
    for begin, end, x, there in reversed(starts):
        _restore(rng, there)
        _, contexts = _run(blocks[begin:end], x, rng, True)
        grad = _unwound(blocks[begin:end], list(contexts), grad)
    _restore(rng, found)
    return grad

# %% contexts-outlive-their-segment / outlive-in-forward
def forward(blocks, x, rng, segments):
    begins = [*_begins(len(blocks), segments), len(blocks)]
    starts = []
    for begin, end in zip(begins[:-1], begins[1:], strict=True):
        starts.append((begin, end, x, _saved(rng)))
        x, contexts = _run(blocks[begin:end], x, rng, False)
    return x, (starts[:-1], contexts)

# %% from-the-input-each-time
# killed_by: cost
"""Each segment is repeated from the very first input, through all blocks before it: 224 forward
calls for 64 blocks in 8 segments, where 56 are enough. You have the input of each segment; begin
there."""

def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    found = _saved(rng)
    grad = _unwound(blocks[-len(contexts) :], contexts, grad_y)
    for begin, end, _, _ in reversed(starts):
        x = starts[0][2]
        _restore(rng, starts[0][3])
        for block in blocks[:begin]:
            x, _ = block.forward(x, rng, again=True)
        _, contexts = _run(blocks[begin:end], x, rng, True)
        grad = _unwound(blocks[begin:end], contexts, grad)
    _restore(rng, found)
    return grad

# %% reruns-the-last
# killed_by: cost
"""backward runs every block again, the last segment's too: 64 calls for 64 blocks. Its contexts are
needed as soon as forward has ended, so keep them."""

def forward(blocks, x, rng, segments):
    begins = [*_begins(len(blocks), segments), len(blocks)]
    starts = []
    for begin, end in zip(begins[:-1], begins[1:], strict=True):
        starts.append((begin, end, x, _saved(rng)))
        for block in blocks[begin:end]:
            x, _ = block.forward(x, rng)
    return x, starts

def backward(blocks, state, grad_y, rng):
    found, grad = _saved(rng), grad_y
    for begin, end, x, there in reversed(state):
        _restore(rng, there)
        _, contexts = _run(blocks[begin:end], x, rng, True)
        grad = _unwound(blocks[begin:end], contexts, grad)
    _restore(rng, found)
    return grad

# %% long-tail
# killed_by: alive
"""All segments have n // segments blocks, and the last one has the rest as well: 14 in 5 are 2, 2,
2, 2 and 6. The longest segment decides how many contexts exist. Let lengths differ by at most one.
"""

def _begins(n, segments):
    return [i * (n // segments) for i in range(segments)]

# %% short-tail
# killed_by: cost
"""All segments have ceil(n / segments) blocks, and the last one has what is left: 10 in 3 are 4, 4
and 2. The last one needs no repetition, so it should not be the short one. Let lengths differ by at
most one."""

def _begins(n, segments):
    return list(range(0, n, -(-n // segments)))

# %% root-of-n
# killed_by: best
"""Your best_segments is about the root of n, whatever a context weighs. That is about best where it
weighs no more than an input. Three times as heavy, contexts make shorter segments pay: 8 of 64 keep
7 + 24 = 31, and 13 keep 12 + 15 = 27."""

def best_segments(n, weight):
    return min(range(1, n + 1), key=lambda s: _kept(n, s, 1))

# %% root-of-n / rounded
def best_segments(n, weight):
    return max(1, round(n**0.5))

# %% divisors-alone
# killed_by: best
"""Your best_segments tries the divisors of n alone. Lengths may differ by one, so every s is
allowed: 5 blocks with contexts of one array keep 4 arrays in 2 segments, and 5 in 1 or in 5."""

def best_segments(n, weight):
    return min((s for s in range(1, n + 1) if n % s == 0), key=lambda s: _kept(n, s, weight))

# %% largest-of-equals
# killed_by: best
"""Where several numbers of segments keep as little, you give the largest. The contract asks for the
smallest, which repeats fewer blocks."""

def best_segments(n, weight):
    return min(range(n, 0, -1), key=lambda s: _kept(n, s, weight))

# %% length-not-rounded
# killed_by: best
"""Your best_segments is best for segments of n / s blocks, which need not be a whole number: about
the root of weight * n, 14 for 64 blocks with contexts of 3. The longest of 14 segments has 5
blocks, and so has that of 13: 13 + 15 = 28 arrays, against 12 + 15 = 27."""

def _kept(n, segments, weight):
    return segments - 1 + weight * n / segments

# %% length-not-rounded / root-rounded
def best_segments(n, weight):
    return max(1, min(n, round((weight * n) ** 0.5)))

# %% waits-in-a-queue
# killed_by: later-first
"""Your blocks remember what waits for a backward pass in a queue, and take the oldest, whatever state
they are given. If the later batch goes backward first, it gets the segments of the earlier one. All
that backward needs belongs to the state that it is handed."""

_right_forward, _right_backward = forward, backward

def forward(blocks, x, rng, segments):
    y, state = _right_forward(blocks, x, rng, segments)
    vars(blocks[0]).setdefault("waiting", []).append(state)
    return y, state

def backward(blocks, state, grad_y, rng):
    return _right_backward(blocks, blocks[0].waiting.pop(0), grad_y, rng)
