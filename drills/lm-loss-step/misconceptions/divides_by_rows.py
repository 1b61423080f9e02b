"""Wrong idea: the divisor is the number of rows."""


def _divisor(tokens, pad):
    return len(tokens)
