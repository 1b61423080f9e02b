"""The square of the norm is held against max_norm."""


def _clip_factor(mean, scale, max_norm):
    norm = (_norm(mean) / scale) ** 2
    return max_norm / norm if norm > max_norm else 1.0
