"""Wrong idea: the mean gradient of each step is added to those of the steps before it."""


def train(E, U, pieces, lr, accumulate, pad=0):
    losses, sum_dE, sum_dU = [], np.zeros_like(E), np.zeros_like(U)
    for start in range(0, len(pieces), accumulate):
        loss, dE, dU = _mean(*_sums(E, U, pieces[start : start + accumulate], pad))
        sum_dE, sum_dU = sum_dE + dE, sum_dU + dU
        E, U = E - lr * sum_dE, U - lr * sum_dU
        losses.append(loss)
    return E, U, losses
