"""x, not centered, is divided by the deviation about the mean."""


def _rrms(x, eps):
    return 1.0 / np.sqrt(x.var(axis=-1, keepdims=True) + eps)
