"""Wrong idea: the divisor is the number of tokens that are not padding."""


def _divisor(tokens, pad):
    return int((tokens != pad).sum())
