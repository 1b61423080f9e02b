"""Exponentials of the lse as they are."""


def merge(o1, lse1, o2, lse2):
    first, second = np.exp(lse1)[:, None], np.exp(lse2)[:, None]
    total = first + second
    return (first * o1 + second * o2) / total, np.log(total[:, 0])
