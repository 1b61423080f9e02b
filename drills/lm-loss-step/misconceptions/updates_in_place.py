"""Wrong idea: the weights of the caller are changed."""


def step(E, U, pieces, lr, pad=0):
    loss, dE, dU = _mean(*_sums(E, U, pieces, pad))
    E -= lr * dE
    U -= lr * dU
    return E, U, loss
