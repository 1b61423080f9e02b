"""Only the first repetition goes back."""


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
