"""Wrong idea: an update after each piece, by its own mean; the loss is the mean of theirs."""


def step(E, U, pieces, lr, pad=0):
    losses = []
    for tokens in pieces:
        loss, dE, dU = loss_and_grad(E, U, tokens, pad)
        E, U = E - lr * dE, U - lr * dU
        losses.append(loss)
    return E, U, sum(losses) / len(losses)
