"""Wrong idea: a group in which nothing counts is passed over, and has no loss."""


def train(E, U, pieces, lr, accumulate, pad=0):
    losses = []
    for start in range(0, len(pieces), accumulate):
        group = pieces[start : start + accumulate]
        if sum(_divisor(tokens, pad) for tokens in group):
            E, U, loss = step(E, U, group, lr, pad)
            losses.append(loss)
    return E, U, losses
