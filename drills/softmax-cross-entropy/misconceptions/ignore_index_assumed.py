"""Any negative target is ignored, and no other one, whatever ignore_index says."""


def _counted_rows(target, ignore_index):
    return np.flatnonzero(target >= 0)
