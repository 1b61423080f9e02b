"""Backpropagation that recomputes activations; blocks.py has the blocks."""


def forward(blocks, x, rng, segments):
    """Return y and the state that backward needs.

    Args:
        blocks: a list of n >= 1 blocks.
        x: (N, d) float64.
        rng: np.random.Generator that the blocks draw from.
        segments: int, 1 <= segments <= n.
    """
    # why: The input of every block is as much as the inputs of 64 segments. The input of each
    #      segment is enough, and the contexts of the last one, which backward needs first.
    begins = [i * len(blocks) // segments for i in range(segments)]
    inputs, contexts = [], []
    for n, block in enumerate(blocks):
        if n in begins:
            inputs.append([n, x])
            # why 2: A repetition has to drop the same elements, so it begins where the generator
            #        stood. Its state is a dict of its own.
            inputs[-1].append(rng.bit_generator.state)
        # why: Contexts of the other segments are let go.
        x, ctx = block.forward(x, rng)
        if n >= begins[-1]:
            contexts.append(ctx)
        # why 3: A name that still leads to a context keeps it alive.
        del ctx
    # why: All that backward needs is in the state.
    return x, (inputs, contexts)


def backward(blocks, state, grad_y, rng):
    """Return grad_x; every block adds to its own grad_w.

    Args:
        blocks: those of forward.
        state: what forward returned.
        grad_y: (N, d) float64.
        rng: the generator of forward.
    """
    grad = grad_y
    # why: The last segment has its contexts. The others are run again, each from its input, as
    #      repetitions: the running mean of a block moves at its first run only.
    inputs, contexts = state
    end = len(blocks)
    # why 2: Whoever draws after backward must not notice that it has drawn.
    found = rng.bit_generator.state
    # why: From the last segment to the first.
    for begin, x, *place in reversed(inputs):
        if end < len(blocks):
            # why 2: Each segment has its own place in the random numbers.
            rng.bit_generator.state = place[0]
            # why: The contexts of one segment at a time.
            for block in blocks[begin:end]:
                x, ctx = block.forward(x, rng, again=True)
                contexts.append(ctx)
        for block in reversed(blocks[begin:end]):
            ctx = contexts.pop()
            grad = block.backward(grad, ctx)
        end = begin
    # why 2: The generator is left where it was found.
    rng.bit_generator.state = found
    return grad


# why 3: s - 1 inputs are kept and the contexts of the longest segment. Lengths are whole numbers, so
#        no formula is exact: try every s.
def best_segments(n, weight):
    """The number of segments that keeps least when forward ends."""
    return min(range(1, n + 1), key=lambda s: s - 1 + weight * -(-n // s))
