"""The scale is multiplied into the query columns of the caller's own weights."""


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    width = x.shape[-1] // heads
    w_qkv[:, : heads * width] *= width**-0.5
    q, k, v = _projections(x, w_qkv, heads, heads if kv_heads is None else kv_heads)
    return _merged(_attended(q, k, v, keep)) @ w_out


def _scale(q):
    return 1.0
