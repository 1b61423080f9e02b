"""The buffers are float64, and the result is cast."""

right_extend = extend


def new_cache(batch, heads, dh, capacity, dtype):
    shape = (batch, heads, capacity, dh)
    return Cache(np.zeros(shape), np.zeros(shape), 0)


def extend(cache, x, w_qkv, w_out):
    y, cache = right_extend(cache, x, w_qkv, w_out)
    return y.astype(x.dtype), cache
