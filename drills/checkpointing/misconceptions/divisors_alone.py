"""Only divisors of n are tried."""


def best_segments(n, weight):
    return min((s for s in range(1, n + 1) if n % s == 0), key=lambda s: _kept(n, s, weight))
