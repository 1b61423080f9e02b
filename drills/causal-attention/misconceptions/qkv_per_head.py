"""The columns are read as q, k and v of head 0, then of head 1, and so on."""


def _projections(x, w_qkv, heads, kv_heads):
    if kv_heads != heads:
        ends = [x.shape[-1], x.shape[-1] + kv_heads * (x.shape[-1] // heads)]
        q, k, v = np.split(x @ w_qkv, ends, axis=-1)
        return (_shared(_split(a, n), heads) for a, n in ((q, heads), (k, kv_heads), (v, kv_heads)))
    batch, tokens, features = x.shape
    fused = (x @ w_qkv).reshape(batch, tokens, heads, 3, features // heads)
    return (fused[..., i, :].transpose(0, 2, 1, 3) for i in range(3))
