"""Line 4 is the direction in which the loss falls."""


def dloss_dz(p, y):
    return y - y.sum() * p
