"""Wrong idea: a group of fewer pieces makes a smaller step, by its share of accumulate."""


def train(E, U, pieces, lr, accumulate, pad=0):
    losses = []
    for start in range(0, len(pieces), accumulate):
        group = pieces[start : start + accumulate]
        E, U, loss = step(E, U, group, lr * len(group) / accumulate, pad)
        losses.append(loss)
    return E, U, losses
