"""Entries 2 i and 2 i + 1 are a pair."""


def _turned(x, cos, sin):
    out = x.copy()
    turning = 2 * cos.shape[-1]
    a, b = x[..., :turning:2], x[..., 1:turning:2]
    out[..., :turning:2] = a * cos - b * sin
    out[..., 1:turning:2] = b * cos + a * sin
    return out
