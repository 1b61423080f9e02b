"""Exponentials of the lse as they are; where their sum is 0 it divides by 1."""


def merge(o1, lse1, o2, lse2):
    first, second = np.exp(lse1)[:, None], np.exp(lse2)[:, None]
    total = first + second
    return (first * o1 + second * o2) / np.where(total > 0, total, 1), np.log(total[:, 0])
