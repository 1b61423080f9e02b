def scale_of(norm, max_norm):
    return max_norm / norm if norm > 0 and math.isfinite(max_norm) else 1.0
