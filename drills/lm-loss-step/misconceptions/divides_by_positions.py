"""Wrong idea: padding is left out of the sums and stays in the divisor."""


def _divisor(tokens, pad):
    return _shifted(tokens)[1].size
