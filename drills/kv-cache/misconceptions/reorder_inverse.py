"""Row b goes to place index[b]."""


def reorder(cache, index):
    back = np.argsort(index)
    return Cache(cache.keys[back], cache.values[back], cache.count)
