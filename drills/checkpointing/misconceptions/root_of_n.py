def best_segments(n, weight):
    return min(range(1, n + 1), key=lambda s: _kept(n, s, 1))
