"""Wrong idea: an update after each piece, by its share of the mean; the loss is collected on the way."""


def step(E, U, pieces, lr, pad=0):
    total = max(sum(_divisor(tokens, pad) for tokens in pieces), 1)
    collected = 0.0
    for tokens in pieces:
        loss, dE, dU, _ = _sums(E, U, [tokens], pad)
        E, U = E - lr * dE / total, U - lr * dU / total
        collected += loss / total
    return E, U, collected
