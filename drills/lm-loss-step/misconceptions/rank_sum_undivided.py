"""Wrong idea: each machine hands in its sum."""


def rank_gradient(E, U, tokens, counts, pad=0):
    return _sums(E, U, [tokens], pad)[1:3]
