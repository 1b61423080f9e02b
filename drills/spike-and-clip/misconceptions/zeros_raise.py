def scale_of(norm, max_norm):
    return min(1.0, max_norm / norm)
