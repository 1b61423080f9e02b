def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    found = _saved(rng)
    grad = _unwound(blocks[-len(contexts) :], contexts, grad_y)
    for begin, end, x, there in reversed(starts):
        for block in blocks[begin:end]:
            _restore(rng, there)
            x, ctx = block.forward(x, rng, again=True)
            contexts.append(ctx)
        del ctx
        grad = _unwound(blocks[begin:end], contexts, grad)
    _restore(rng, found)
    return grad
