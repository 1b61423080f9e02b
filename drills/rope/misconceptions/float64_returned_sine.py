"""The sine stays float64, and the cosine does not."""


def _table(positions, frequencies, dtype):
    angles = positions[..., None, :, None] * frequencies
    return np.cos(angles).astype(dtype), np.sin(angles)
