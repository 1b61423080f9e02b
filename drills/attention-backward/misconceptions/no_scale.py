"""The scores are the dot products, throughout."""


def _scale(q):
    return 1.0
