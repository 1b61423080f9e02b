"""The weights are divided by their sum before they are subtracted."""


def dloss_dz(p, y):
    return p - y / y.sum()
