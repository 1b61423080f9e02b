def best_segments(n, weight):
    return max(1, round(n**0.5))
