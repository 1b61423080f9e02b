"""Converted weights are float64."""

_kept = convert


def convert(w, heads):
    return _kept(w, heads).astype(np.float64)
