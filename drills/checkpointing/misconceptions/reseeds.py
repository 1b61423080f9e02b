import numpy as np

SEED = 0


def backward(blocks, state, grad_y, rng):
    starts, contexts = state
    grad = _unwound(blocks[-len(contexts) :], contexts, grad_y)
    for begin, end, x, _ in reversed(starts):
        _, contexts = _run(blocks[begin:end], x, np.random.default_rng(SEED), True)
        grad = _unwound(blocks[begin:end], contexts, grad)
    return grad
