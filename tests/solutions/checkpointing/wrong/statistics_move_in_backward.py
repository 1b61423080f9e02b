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
