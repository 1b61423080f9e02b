"""The scores are multiplied by the root of dh."""


def _scale(q):
    return q.shape[-1] ** 0.5
