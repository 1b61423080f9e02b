"""Line 4 keeps the factor p of a probability's derivative: p (p - y)."""


def dloss_dz(p, y):
    return p * (p - y)
