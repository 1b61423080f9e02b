"""Style: heads in threads, positions with take, and a result in Fortran order."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np


def one_head(h, fused, size, heads, groups, visible):
    dh = size // heads
    here = np.arange(dh)
    g = h // (heads // groups)
    q = fused.take(h * dh + here, axis=2)
    k = fused.take(size + g * dh + here, axis=2)
    v = fused.take(size + groups * dh + g * dh + here, axis=2)
    out = np.zeros_like(q)
    for b in range(len(fused)):
        s = np.ma.array(q[b] @ k[b].T * fused.dtype.type(dh**-0.5), mask=~visible[b])
        with np.errstate(over="ignore"):  # of hidden ones
            e = np.exp(s - s.max(axis=1)[:, None]).filled(0)
        seen = visible[b].any(axis=1)
        out[b, seen] = e[seen] @ v[b] / e[seen].sum(axis=1)[:, None]
    return out


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    groups = kv_heads if kv_heads is not None else heads
    tokens = x.shape[1]
    real = np.ones(x.shape[:2], bool) if keep is None else keep
    visible = np.tri(tokens, dtype=bool) & real[:, None]
    work = partial(
        one_head, fused=x @ w_qkv, size=x.shape[2], heads=heads, groups=groups, visible=visible
    )
    with ThreadPoolExecutor(2) as pool:
        parts = list(pool.map(work, range(heads)))
    return np.asfortranarray(np.concatenate(parts, axis=2) @ w_out)
