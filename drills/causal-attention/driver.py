"""What the outputs notice when a token is moved.

x is (B, T, D), w_qkv (D, 3 * D) and w_out (D, D).
"""

import numpy as np


def later_moved(program, x, w_qkv, w_out, heads, token):
    """Return y, and y with 1 added to all tokens from `token` on."""
    return _moved(program, x, slice(token, None), w_qkv, w_out, heads)


def first_moved(program, x, w_qkv, w_out, heads):
    """Return y, and y with 1 added to token 0."""
    return _moved(program, x, 0, w_qkv, w_out, heads)


def leak(before, after, token):
    """Return (token,): for each token before `token`, the largest change in its row of y."""
    return reach(before, after)[:token]


def reach(before, after):
    """Return (T,): for each token, the largest change in its row of y."""
    return np.abs(after - before).max(axis=(0, 2))


def _moved(program, x, tokens, w_qkv, w_out, heads):
    moved = x.copy()
    moved[:, tokens] += 1
    before = np.array(program.attention(x.copy(), w_qkv.copy(), w_out.copy(), heads))
    return before, program.attention(moved, w_qkv.copy(), w_out.copy(), heads)
