def forward(blocks, x, rng, segments):
    return _run(blocks, x, rng, False)


def backward(blocks, state, grad_y, rng):
    return _unwound(blocks, state, grad_y)
