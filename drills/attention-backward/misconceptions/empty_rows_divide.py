"""The largest score is guarded where a query sees no key, the divisor is not."""


def _normalizer(scores):
    top = scores.max(axis=2, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    return top, np.exp(scores - top).sum(axis=2, keepdims=True)
