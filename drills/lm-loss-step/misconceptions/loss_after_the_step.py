"""Wrong idea: the loss is taken after the step."""

_before = step


def step(E, U, pieces, lr, pad=0):
    E, U, _ = _before(E, U, pieces, lr, pad)
    return E, U, _before(E, U, pieces, lr, pad)[2]


def train(E, U, pieces, lr, accumulate, pad=0):
    losses = []
    for start in range(0, len(pieces), accumulate):
        E, U, loss = step(E, U, pieces[start : start + accumulate], lr, pad)
        losses.append(loss)
    return E, U, losses
