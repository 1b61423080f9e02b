"""Behind the queries, the columns are read as k and v of head 0, then of head 1, and so on."""


def _projections(x, w_qkv, heads, kv_heads):
    width = x.shape[-1] // heads
    q, kv = np.split(x @ w_qkv, [heads * width], axis=-1)
    if kv_heads == heads:
        k, v = np.split(kv, 2, axis=-1)
        return _split(q, heads), _split(k, heads), _split(v, heads)
    pairs = kv.reshape(*kv.shape[:2], kv_heads, 2, width).transpose(3, 0, 2, 1, 4)
    return _split(q, heads), _shared(pairs[0], heads), _shared(pairs[1], heads)
