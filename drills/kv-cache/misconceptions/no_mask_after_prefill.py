"""Nothing is hidden once there is something in the cache."""

right_visible = _visible


def _visible(past, n):
    return np.ones((n, past + n), bool) if past else right_visible(past, n)
