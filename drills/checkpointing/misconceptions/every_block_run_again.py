def forward(blocks, x, rng, segments):
    starts = []
    for block in blocks:
        starts.append((x, _saved(rng)))
        x, _ = block.forward(x, rng)
    return x, starts


def backward(blocks, state, grad_y, rng):
    found, grad = _saved(rng), grad_y
    for block, (x, there) in zip(reversed(blocks), reversed(state), strict=True):
        _restore(rng, there)
        _, ctx = block.forward(x, rng, again=True)
        grad = block.backward(grad, ctx)
    _restore(rng, found)
    return grad
