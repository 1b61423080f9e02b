"""Of several that keep as little, the largest is taken."""


def best_segments(n, weight):
    return min(range(n, 0, -1), key=lambda s: _kept(n, s, weight))
