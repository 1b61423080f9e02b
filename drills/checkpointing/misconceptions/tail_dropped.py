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
