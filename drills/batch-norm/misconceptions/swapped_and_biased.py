"""The share of the newest batch is 1 - momentum, and the biased variance is stored."""


def _fade(old, new, share):
    return share * old + (1 - share) * new


def _stored_variance(x, var):
    return var
