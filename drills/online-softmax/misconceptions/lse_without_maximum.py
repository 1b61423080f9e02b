"""lse is the logarithm of the sum of exp(s - maximum)."""


def _finish(top, total, o):
    total = np.where(total > 0, total, 1)
    return o / total[:, None], np.where(np.isinf(top), top, np.log(total))
