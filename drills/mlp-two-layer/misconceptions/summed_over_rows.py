"""The loss is the sum over the rows, and so is what its gradient belongs to."""


def _count(rows):
    return 1
