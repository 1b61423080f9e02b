"""NaN is not taken for an overflow."""


def _finite(grads):
    return not any(np.isinf(g).any() for g in grads)
