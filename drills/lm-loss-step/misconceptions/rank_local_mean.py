"""Wrong idea: each machine hands in the gradient of its own mean."""


def rank_gradient(E, U, tokens, counts, pad=0):
    return loss_and_grad(E, U, tokens, pad)[1:]
