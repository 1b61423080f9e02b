"""Keys are repeated and values are tiled."""


def _projections(x, w_qkv, heads, kv_heads):
    width = x.shape[-1] // heads
    ends = [heads * width, (heads + kv_heads) * width]
    q, k, v = np.split(x @ w_qkv, ends, axis=-1)
    tiled = np.tile(_split(v, kv_heads), (1, heads // kv_heads, 1, 1))
    return _split(q, heads), _shared(_split(k, kv_heads), heads), tiled
