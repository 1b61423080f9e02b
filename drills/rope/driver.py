"""What lengths and scores become, and the scores of a layer whose weights are converted."""

import numpy as np


def lengths(program, q, k, v, positions):
    """Return the lengths of the turned queries and keys, (B, H, n) each."""
    q, k, _ = program.rotate(q, k, v, positions)
    return np.sqrt((q * q).sum(axis=-1)), np.sqrt((k * k).sum(axis=-1))


def moved(program, q, k, v, positions, by):
    """Return scores, (B, H, n, n), and those when every position grows by `by`."""
    # Copies, because a program that turns the caller's arrays is for a check of its own.
    near_q, near_k, _ = program.rotate(q.copy(), k.copy(), v.copy(), positions)
    far_q, far_k, _ = program.rotate(q.copy(), k.copy(), v.copy(), positions + by)
    return near_q @ near_k.swapaxes(2, 3), far_q @ far_k.swapaxes(2, 3)


def drift(near, far):
    """Return by how much scores change.

    What rounding leaves of the difference is taken off: it has nine places.
    """
    return np.round(far - near, 9)


def scores(program, x, w_q, w_k, heads, positions):
    """Return the scores, (B, heads, n, n), of tokens x (B, n, D) under converted weights."""
    q = x @ program.convert(w_q, heads)
    k = x @ program.convert(w_k, heads)
    return _scores(program, q, k, heads, positions)


def biased_scores(program, x, w_q, b_q, w_k, b_k, heads, positions):
    """Return what `scores` does, with converted biases as well."""
    q = x @ program.convert(w_q, heads) + program.convert(b_q, heads)
    k = x @ program.convert(w_k, heads) + program.convert(b_k, heads)
    return _scores(program, q, k, heads, positions)


def _scores(program, q, k, heads, positions):
    """Turn queries and keys, (B, n, heads * d) each, and return their scores."""
    q, k = _split(q, heads), _split(k, heads)
    q, k, _ = program.rotate(q, k, np.zeros_like(k), positions)
    return q @ k.swapaxes(2, 3)


def _split(a, heads):
    """Return (B, n, heads * d) as (B, heads, n, d)."""
    batch, n, width = a.shape
    return a.reshape(batch, n, heads, width // heads).transpose(0, 2, 1, 3)
