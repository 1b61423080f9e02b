"""Query head h uses key head h % kv_heads."""


def _shared(a, heads):
    return np.tile(a, (1, heads // a.shape[1], 1, 1))
