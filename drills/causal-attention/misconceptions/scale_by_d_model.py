"""Dot products are divided by the root of D."""


def _scale(q):
    return (q.shape[1] * q.shape[-1]) ** -0.5
