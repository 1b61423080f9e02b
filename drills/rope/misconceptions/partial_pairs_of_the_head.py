"""With a width, entries i and i + d/2 are still a pair."""


def _turned(x, cos, sin):
    out, pairs, half = x.copy(), cos.shape[-1], x.shape[-1] // 2
    a, b = x[..., :pairs], x[..., half : half + pairs]
    out[..., :pairs] = a * cos - b * sin
    out[..., half : half + pairs] = b * cos + a * sin
    return out
