"""Dot products are not divided by anything."""


def _root(q):
    return 1.0
