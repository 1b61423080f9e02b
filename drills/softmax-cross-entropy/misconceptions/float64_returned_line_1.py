"""dL/dp is made by np.zeros(shape), which is float64 whatever p is."""

_step_in_dtype = dloss_dp


def dloss_dp(p, y):
    return _step_in_dtype(p, y).astype(np.float64)
