"""The root of the mean square is held against max_norm."""


def _clip_factor(mean, scale, max_norm):
    norm = _norm(mean) / scale / np.sqrt(sum(g.size for g in mean))
    return float(max_norm / norm) if norm > max_norm else 1.0
