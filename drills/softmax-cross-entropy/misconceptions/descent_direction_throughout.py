"""Line 4 and the gradient are the direction in which the loss falls."""

_ascent = cross_entropy_grad


def dloss_dz(p, y):
    return y - y.sum() * p


def cross_entropy_grad(z, target):
    return -_ascent(z, target)
