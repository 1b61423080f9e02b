"""Wrong idea: the pieces left over at the end, fewer than `accumulate`, are never used."""


def train(E, U, pieces, lr, accumulate, pad=0):
    losses = []
    for number in range(len(pieces) // accumulate):
        group = pieces[number * accumulate : (number + 1) * accumulate]
        E, U, loss = step(E, U, group, lr, pad)
        losses.append(loss)
    return E, U, losses
