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
