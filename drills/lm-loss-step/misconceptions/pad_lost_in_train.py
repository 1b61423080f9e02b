"""Wrong idea: train does not hand pad on, so the default is taken."""

_with_pad = train


def train(E, U, pieces, lr, accumulate, pad=0):
    return _with_pad(E, U, pieces, lr, accumulate)
