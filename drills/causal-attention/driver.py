"""What the outputs notice when a token is moved."""

import numpy as np


def leak(program, x, w_qkv, w_out, heads, token):
    """Add 1 to all tokens from `token` on, and return what the outputs before it notice.

    Args:
        program: the function under test, `attention`.
        x: (B, T, D).
        w_qkv: (D, 3 * D).
        w_out: (D, D).
        heads: number of heads.
        token: the first token that is moved, at least 1.

    Returns:
        (token,): for each token before it, the largest change in its row of y.
    """
    moved = x.copy()
    moved[:, token:] += 1
    return _change(program, x, moved, w_qkv, w_out, heads)[:token]


def reach(program, x, w_qkv, w_out, heads):
    """Add 1 to token 0, and return (T,): for each token, the largest change in its row of y."""
    moved = x.copy()
    moved[:, 0] += 1
    return _change(program, x, moved, w_qkv, w_out, heads)


def _change(program, x, moved, w_qkv, w_out, heads):
    before = np.array(program.attention(x.copy(), w_qkv.copy(), w_out.copy(), heads))
    after = program.attention(moved, w_qkv.copy(), w_out.copy(), heads)
    return np.abs(after - before).max(axis=(0, 2))
