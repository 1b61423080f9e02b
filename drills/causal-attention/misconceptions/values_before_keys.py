"""The columns of w_qkv are read as queries, values and keys."""

_right = _projections


def _projections(x, w_qkv, heads, kv_heads):
    q, k, v = _right(x, w_qkv, heads, kv_heads)
    return q, v, k
