"""The share of the newest batch is 1 - momentum."""


def _fade(old, new, share):
    return share * old + (1 - share) * new
