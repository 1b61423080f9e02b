def best_segments(n, weight):
    return max(1, min(n, round((weight * n) ** 0.5)))
