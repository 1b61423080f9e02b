"""Queries are kept beside keys and values."""

right_new_cache = new_cache
right_reorder = reorder
right_stored = _stored
right_turned = _turned


def new_cache(batch, heads, dh, capacity, dtype):
    cache = right_new_cache(batch, heads, dh, capacity, dtype)
    cache.queries = np.zeros_like(cache.keys)
    return cache


def extend(cache, x, w_qkv, w_out):
    past, n = cache.count, x.shape[1]
    q, k, v = (_split(a, cache.keys.shape[1]) for a in np.split(x @ w_qkv, 3, axis=-1))
    q, k = _turned(q, k, past)
    cache.queries[:, :, past : past + n] = q
    keys, values = _stored(cache, k, v)
    return _merged(_attended(q, keys, values, _visible(past, n))) @ w_out, cache


def reorder(cache, index):
    other = right_reorder(cache, index)
    other.queries = cache.queries[index]
    return other
