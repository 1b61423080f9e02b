"""The output is written to a buffer that the next call writes to as well."""

right_extend = extend


def extend(cache, x, w_qkv, w_out):
    y, cache = right_extend(cache, x, w_qkv, w_out)
    buffer = getattr(cache, "buffer", None)
    if buffer is None or buffer.shape != y.shape:
        cache.buffer = buffer = np.empty_like(y)
    buffer[...] = y
    return buffer, cache
