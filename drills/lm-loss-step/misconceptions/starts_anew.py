"""Wrong idea: each group starts from the weights that train was given."""


def train(E, U, pieces, lr, accumulate, pad=0):
    losses = []
    for start in range(0, len(pieces), accumulate):
        E_new, U_new, loss = step(E, U, pieces[start : start + accumulate], lr, pad)
        losses.append(loss)
    return E_new, U_new, losses
