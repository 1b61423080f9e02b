"""Where the order does not change, the old cache itself is returned."""

right_reorder = reorder


def reorder(cache, index):
    same = len(index) == len(cache.keys) and (index == np.arange(len(index))).all()
    return cache if same else right_reorder(cache, index)
