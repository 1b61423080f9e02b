"""Wrong idea: neither the summed gradient nor its count is cleared."""


def train(E, U, pieces, lr, accumulate, pad=0):
    losses, sum_dE, sum_dU, counts = [], np.zeros_like(E), np.zeros_like(U), 0
    for start in range(0, len(pieces), accumulate):
        loss, dE, dU, count = _sums(E, U, pieces[start : start + accumulate], pad)
        sum_dE, sum_dU, counts = sum_dE + dE, sum_dU + dU, counts + count
        losses.append(_mean(loss, dE, dU, count)[0])
        _, dE, dU = _mean(0.0, sum_dE, sum_dU, counts)
        E, U = E - lr * dE, U - lr * dU
    return E, U, losses
