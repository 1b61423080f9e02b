"""Minus infinity is taken off minus infinity when two empty results are merged."""


def merge(o1, lse1, o2, lse2):
    top = np.maximum(lse1, lse2)
    first, second = np.exp(lse1 - top)[:, None], np.exp(lse2 - top)[:, None]
    total = first + second
    return (first * o1 + second * o2) / total, top + np.log(total[:, 0])
