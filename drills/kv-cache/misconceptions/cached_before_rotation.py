"""Keys go into the cache before they are turned, and are not turned when they are read."""

right_stored = _stored


def _turned(q, k, past):
    return rope(q, np.arange(past, past + q.shape[2])), k


def _stored(cache, k, v):
    past = cache.count
    keys, values = right_stored(cache, k, v)
    new = rope(k, np.arange(past, past + k.shape[2]))
    return np.concatenate([keys[:, :, :past], new], axis=2), values
