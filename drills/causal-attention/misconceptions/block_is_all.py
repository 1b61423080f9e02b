"""Queries of a block see the keys of that block alone."""

BLOCK = 32


def _attended(q, k, v, keep):
    tokens = q.shape[2]
    out = np.empty(q.shape, q.dtype)
    for first in range(0, tokens, BLOCK):
        last = min(first + BLOCK, tokens)
        block = slice(first, last)
        visible = _visible(first, last, keep)[..., block]
        out[:, :, block] = _weights(_scores(q[:, :, block], k[:, :, block]), visible) @ v[:, :, block]
    return out
