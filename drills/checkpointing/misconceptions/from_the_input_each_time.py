def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    found = _saved(rng)
    grad = _unwound(blocks[-len(contexts) :], contexts, grad_y)
    for begin, end, _, _ in reversed(starts):
        x = starts[0][2]
        _restore(rng, starts[0][3])
        for block in blocks[:begin]:
            x, _ = block.forward(x, rng, again=True)
        _, contexts = _run(blocks[begin:end], x, rng, True)
        grad = _unwound(blocks[begin:end], contexts, grad)
    _restore(rng, found)
    return grad
