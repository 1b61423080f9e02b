"""The keys of the cache are turned at every step, those that were turned before included."""

right_stored = _stored


def _turned(q, k, past):
    return rope(q, np.arange(past, past + q.shape[2])), k


def _stored(cache, k, v):
    keys, values = right_stored(cache, k, v)
    keys[...] = rope(keys, np.arange(keys.shape[2]))
    return keys, values
