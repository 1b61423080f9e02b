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
