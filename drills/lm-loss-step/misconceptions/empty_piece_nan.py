"""Wrong idea: means are weighted by counts, and the mean of nothing is NaN, which times 0 is NaN."""


def step(E, U, pieces, lr, pad=0):
    counts = [_divisor(tokens, pad) for tokens in pieces]
    loss, dE, dU = 0.0, np.zeros_like(E), np.zeros_like(U)
    for tokens, count in zip(pieces, counts, strict=True):
        part, part_dE, part_dU, _ = _sums(E, U, [tokens], pad)
        weight = count / max(sum(counts), 1)
        if sum(counts):
            with np.errstate(invalid="ignore"):
                loss += weight * (np.float64(part) / count)
                dE += weight * (part_dE / count)
                dU += weight * (part_dU / count)
    return E - lr * dE, U - lr * dU, loss
