"""The result is written into the first output."""


def merge(o1, lse1, o2, lse2):
    top = np.maximum(lse1, lse2)
    first, second = np.exp(lse1 - _floor(top)), np.exp(lse2 - _floor(top))
    o1 *= first[:, None]
    o1 += second[:, None] * o2
    o, lse = _finish(top, first + second, o1)
    o1[...] = o
    return o, lse
