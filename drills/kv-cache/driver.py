"""Feed a text to a cache, piece by piece."""

import numpy as np


def feed(program, x, w_qkv, w_out, heads, capacity, pieces):
    """Return the outputs of all pieces, in order.

    Args:
        program: the functions under test.
        x: (B, T, D), the tokens.
        w_qkv: (D, 3 * D).
        w_out: (D, D).
        heads: the number of heads, an int that divides D.
        capacity: how many tokens there is room for, an int.
        pieces: lengths of the pieces, whole numbers that add up to T.

    Returns:
        A list of what `extend` gave for each piece, (B, n, D) each.
    """
    return prompt(program, x, w_qkv, w_out, heads, capacity, pieces)[0]


def prompt(program, x, w_qkv, w_out, heads, capacity, pieces):
    """Return what `feed` does, and the cache after the last piece."""
    cache = program.new_cache(x.shape[0], heads, x.shape[2] // heads, capacity, x.dtype)
    outputs, begin = [], 0
    for n in pieces:
        end = begin + int(n)
        y, cache = program.extend(cache, x[:, begin:end], w_qkv, w_out)
        # A copy: whether results keep their values is for a check of its own.
        outputs.append(y.copy() if isinstance(y, np.ndarray) else y)
        begin = end
    return outputs, cache
