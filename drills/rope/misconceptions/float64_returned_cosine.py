"""The cosine stays float64, and the sine does not."""


def _table(positions, frequencies, dtype):
    angles = positions[..., None, :, None] * frequencies
    return np.cos(angles), np.sin(angles).astype(dtype)
