"""Positions and frequencies are rounded to the dtype of q, and multiplied in it."""


def _table(positions, frequencies, dtype):
    angles = positions[..., None, :, None].astype(dtype) * frequencies.astype(dtype)
    return np.cos(angles), np.sin(angles)
