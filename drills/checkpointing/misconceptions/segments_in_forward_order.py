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
