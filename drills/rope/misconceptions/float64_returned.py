"""Cosine and sine stay float64."""


def _table(positions, frequencies, dtype):
    angles = positions[..., None, :, None] * frequencies
    return np.cos(angles), np.sin(angles)
