"""Elements 2 i and 2 i + 1 are rotated as a pair."""


def rope(x, positions):
    half = x.shape[-1] // 2
    angles = np.asarray(positions)[:, None] * 10000.0 ** (-np.arange(half) / half)
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    a, b = x[..., ::2], x[..., 1::2]
    return np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1).reshape(x.shape)
