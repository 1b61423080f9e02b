"""Angles are rounded to the dtype of q."""


def _table(positions, frequencies, dtype):
    angles = (positions[..., None, :, None] * frequencies).astype(dtype)
    return np.cos(angles), np.sin(angles)
