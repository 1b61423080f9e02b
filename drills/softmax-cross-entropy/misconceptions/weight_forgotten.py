"""Line 1 is -1 / p wherever y is positive: the weight y itself is left out."""


def dloss_dp(p, y):
    return np.divide(-np.ones_like(y), p, out=np.zeros(p.shape, p.dtype), where=y != 0)
