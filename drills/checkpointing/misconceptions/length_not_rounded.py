def _kept(n, segments, weight):
    return segments - 1 + weight * n / segments
