"""Wrong idea: predictions of padding count like all others."""


def _counts(targets, pad):
    return np.ones(targets.shape, dtype=bool)
