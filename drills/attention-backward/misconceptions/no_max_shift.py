"""The exponentials are taken of the scores as they are."""


def _normalizer(scores):
    total = np.exp(scores).sum(axis=2, keepdims=True)
    return np.zeros_like(total), np.where(total > 0, total, 1)
