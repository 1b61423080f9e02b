"""Style: einsum over (B, T, G, R, dh) without moving axes; float64 inside; blocks of 16 queries."""

import numpy as np


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    batch, tokens, features = x.shape
    groups = kv_heads or heads
    width = features // heads
    fused = np.einsum("btd,de->bte", x.astype(np.float64), w_qkv.astype(np.float64))
    q = fused[..., :features].reshape(batch, tokens, groups, heads // groups, width)
    k, v = fused[..., features:].reshape(batch, tokens, 2, groups, width).transpose(2, 0, 1, 3, 4)
    mixed = np.zeros((batch, tokens, features))
    for first in range(0, tokens, 16):
        last = min(first + 16, tokens)
        s = np.einsum("btgrd,bsgd->bgrts", q[:, first:last], k[:, :last]) / np.sqrt(width)
        hidden = np.arange(last)[None, :] > np.arange(first, last)[:, None]
        if keep is not None:
            hidden = hidden[None] | ~keep[:, None, :last]
            hidden = hidden[:, None, None]
        s[np.broadcast_to(hidden, s.shape)] = -np.inf
        s -= np.nan_to_num(s.max(-1), neginf=0.0)[..., None]
        np.exp(s, out=s)
        with np.errstate(invalid="ignore"):
            s /= s.sum(-1)[..., None]
        s[np.isnan(s)] = 0
        piece = np.einsum("bgrts,bsgd->btgrd", s, v[:, :last])
        mixed[:, first:last] = piece.reshape(batch, last - first, features)
    return np.einsum("btd,de->bte", mixed, w_out.astype(np.float64)).astype(x.dtype)
