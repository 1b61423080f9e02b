"""Wrong idea: the summed gradient is never cleared, and divided by the count of the newest step."""


def train(E, U, pieces, lr, accumulate, pad=0):
    losses, sum_dE, sum_dU = [], np.zeros_like(E), np.zeros_like(U)
    for start in range(0, len(pieces), accumulate):
        loss, dE, dU, count = _sums(E, U, pieces[start : start + accumulate], pad)
        sum_dE, sum_dU = sum_dE + dE, sum_dU + dU
        loss, dE, dU = _mean(loss, sum_dE, sum_dU, count)
        E, U = E - lr * dE, U - lr * dU
        losses.append(loss)
    return E, U, losses
