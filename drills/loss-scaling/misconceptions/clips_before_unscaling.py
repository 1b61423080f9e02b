"""The norm of the scaled gradient is held against max_norm."""


def _clip_factor(mean, scale, max_norm):
    norm = _norm(mean)
    return max_norm / norm if norm > max_norm else 1.0
