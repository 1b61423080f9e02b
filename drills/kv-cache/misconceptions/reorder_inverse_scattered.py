"""Row b is written to place index[b], where it may be overwritten; the number of rows stays."""


def reorder(cache, index):
    keys, values = np.zeros_like(cache.keys), np.zeros_like(cache.values)
    keys[index] = cache.keys[: len(index)]
    values[index] = cache.values[: len(index)]
    return Cache(keys, values, cache.count)
