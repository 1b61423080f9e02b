"""After backward the generator stands where the first segment began."""

_in_place = backward


def backward(blocks, state, grad_y, rng):
    first = state[0][0][3] if state[0] else None
    grad = _in_place(blocks, state, grad_y, rng)
    if first is not None:
        _restore(rng, first)
    return grad
