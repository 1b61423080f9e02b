"""Backpropagation through a stack of blocks that keeps the input of each segment only.

Forward cuts the blocks into s segments and keeps what it takes to run a segment again: its input,
and where the random generator stood there. Backward begins with the last segment, so its contexts
are simply kept. Every other segment is run again just before its backward, from the same input and
with the same random numbers, and computes what it computed the first time.

Values have no unit. When forward ends, s - 1 inputs are there and the contexts of the longest
segment, which has ceil(n / s) of the n blocks.

Source: Chen, Xu, Zhang and Guestrin, "Training Deep Nets with Sublinear Memory Cost",
arXiv:1604.06174.
"""

import itertools


def forward(blocks, x, rng, segments):
    """Run the blocks one after the other.

    Args:
        blocks: n >= 1 objects with the methods of `blocks.Block`.
        x: (N, d) float64.
        rng: np.random.Generator that the blocks draw from.
        segments: int, 1 <= segments <= n.

    Returns:
        y: (N, d) float64, a new array.
        state: for `backward`, to be used once.
    """
    begins = _begins(len(blocks), segments)
    starts = []
    for begin, end in itertools.pairwise(begins):
        starts.append((begin, end, x, _saved(rng)))
        for block in blocks[begin:end]:
            x, _ = block.forward(x, rng)
    x, contexts = _run(blocks[begins[-1] :], x, rng, False)
    return x, (starts, contexts)


def backward(blocks, state, grad_y, rng):
    """Run the blocks backward; each adds to its own gradient.

    Args:
        blocks: those of `forward`.
        state: what `forward` returned.
        grad_y: (N, d) float64.
        rng: the generator of `forward`; it is left as it is found.

    Returns:
        grad_x: (N, d) float64, a new array.
    """
    starts, contexts = state
    found = _saved(rng)
    grad = _unwound(blocks[-len(contexts) :], contexts, grad_y)
    for begin, end, x, there in reversed(starts):
        _restore(rng, there)
        _, contexts = _run(blocks[begin:end], x, rng, True)
        grad = _unwound(blocks[begin:end], contexts, grad)
    _restore(rng, found)
    return grad


def best_segments(n, weight):
    """Return the number of segments with which the least is kept when forward ends.

    Args:
        n: int, the number of blocks.
        weight: the size of a context, in arrays of the size of x; positive.

    Returns:
        An int from 1 to n; the smallest, where several keep as little.
    """
    return min(range(1, n + 1), key=lambda s: _kept(n, s, weight))


def _begins(n, segments):
    """Return the index of the first block of each segment; lengths differ by at most one."""
    return [i * n // segments for i in range(segments)]


def _run(blocks, x, rng, again):
    """Return what comes out of some blocks, and their contexts."""
    contexts = []
    for block in blocks:
        x, ctx = block.forward(x, rng, again=again)
        contexts.append(ctx)
    return x, contexts


def _unwound(blocks, contexts, grad):
    """Return the gradient before some blocks, and use up their contexts."""
    for block in reversed(blocks):
        grad = block.backward(grad, contexts.pop())
    return grad


def _saved(rng):
    """Return where a generator stands: a dict of its own, which later draws do not change."""
    return rng.bit_generator.state


def _restore(rng, there):
    """Put a generator where it stood."""
    rng.bit_generator.state = there


def _kept(n, segments, weight):
    """Return what is kept when forward ends, in arrays of the size of x."""
    return segments - 1 + weight * -(-n // segments)
