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
