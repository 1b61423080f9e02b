"""Wrong: keys and values are kept in float32."""

import numpy as np

ORIGIN = 1000


def _turn(a, at):
    half = a.shape[-1] // 2
    z = (a[..., :half] + 1j * a[..., half:]) * np.exp(1j * np.multiply.outer(at, 1e4 ** -(np.arange(half) / half)))
    return np.concatenate([z.real, z.imag], -1).astype(a.dtype)


class new_cache:
    def __init__(self, batch, heads, dh, capacity, dtype):
        self.kt = np.zeros((batch, heads, dh, capacity), "float32")
        self.v = np.zeros((batch, heads, capacity, dh), "float32")
        self.next = ORIGIN

    @property
    def used(self):
        return self.next - ORIGIN

    def __getitem__(self, index):
        copy = object.__new__(new_cache)
        copy.kt, copy.v, copy.next = self.kt[index], self.v[index], self.next
        return copy


def extend(cache, x, w_qkv, w_out):
    n, d = x.shape[1:]
    h, dh = cache.kt.shape[1:3]
    cut = [np.stack(np.split(a, h, -1), 1) for a in np.split(x @ w_qkv, 3, -1)]
    at = cache.next + np.arange(n)
    free = slice(cache.used, cache.used + n)
    cache.kt[..., free] = _turn(cut[1], at).swapaxes(2, 3)
    cache.v[:, :, free] = cut[2]
    cache.next += n
    s = _turn(cut[0], at) @ cache.kt[..., : cache.used]
    s *= dh**-0.5
    s[..., ~np.tri(n, cache.used, cache.used - n, dtype=bool)] = -np.inf
    s -= np.max(s, -1, keepdims=True)
    e = np.exp(s)
    y = np.divide(e, e.sum(-1, keepdims=True)) @ cache.v[:, :, : cache.used]
    return y.swapaxes(1, 2).reshape(*x.shape) @ w_out, cache


def reorder(cache, index):
    return cache[np.asarray(index)]
