def scale_of(norm, max_norm):
    return max_norm / norm if norm > 0 else 1.0
