"""Dot products are divided by d."""


def _root(q):
    return float(q.shape[1])
