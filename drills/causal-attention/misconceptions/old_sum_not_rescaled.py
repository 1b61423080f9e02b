"""A running maximum over blocks of keys, and sums that stay as they were."""

BLOCK = 32


def _attended(q, k, v, keep):
    tokens = q.shape[2]
    top = np.full((*q.shape[:3], 1), -np.inf, q.dtype)
    total = np.zeros_like(top)
    out = np.zeros(q.shape, q.dtype)
    visible = np.broadcast_to(_visible(0, tokens, keep), (*q.shape[:3], tokens))
    for first in range(0, tokens, BLOCK):
        block = slice(first, first + BLOCK)
        scores = np.where(visible[..., block], _scores(q, k[:, :, block]), -np.inf)
        top = np.maximum(top, scores.max(axis=-1, keepdims=True))
        e = np.exp(scores - np.where(top == -np.inf, 0, top))
        total += e.sum(axis=-1, keepdims=True)
        out += e @ v[:, :, block]
    return out / np.where(total == 0, 1, total)
