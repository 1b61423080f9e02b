"""Wrong idea: step does not hand pad on, so the default is taken."""


def step(E, U, pieces, lr, pad=0):
    loss, dE, dU = _mean(*_sums(E, U, pieces, 0))
    return E - lr * dE, U - lr * dU, loss
