"""Tokens that are padding are set to 0 and attended to."""


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    if keep is not None:
        x = x * keep[..., None]
    q, k, v = _projections(x, w_qkv, heads, heads if kv_heads is None else kv_heads)
    return _merged(_attended(q, k, v, None)) @ w_out
