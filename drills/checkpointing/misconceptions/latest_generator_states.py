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
