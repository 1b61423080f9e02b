"""Infinity is not taken for an overflow."""


def _finite(grads):
    return not any(np.isnan(g).any() for g in grads)
