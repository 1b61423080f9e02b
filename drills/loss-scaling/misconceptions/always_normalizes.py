"""A gradient is made as long as max_norm, also a shorter one."""


def _clip_factor(mean, scale, max_norm):
    return max_norm * scale / _norm(mean)
