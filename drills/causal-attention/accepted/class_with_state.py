"""Style: a dataclass holds sizes and weights, a generator gives the rows block by block."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Layer:
    w_qkv: np.ndarray
    w_out: np.ndarray
    heads: int
    kv_heads: int

    @property
    def width(self):
        return self.w_out.shape[0] // self.heads

    def cut(self, x):
        names, start = {}, 0
        for name, count in (("q", self.heads), ("k", self.kv_heads), ("v", self.kv_heads)):
            stop = start + count * self.width
            part = x @ self.w_qkv[:, start:stop]
            names[name] = np.moveaxis(part.reshape(*x.shape[:2], count, self.width), 2, 1)
            start = stop
        return names

    def rows(self, x, keep, size=24):
        cut = self.cut(x)
        per_group = self.heads // self.kv_heads
        tokens = x.shape[1]
        for first in range(0, tokens, size):
            stop = min(first + size, tokens)
            causal = np.arange(stop) <= np.arange(first, stop)[:, None]
            seen = causal[None] & (np.ones(stop, bool) if keep is None else keep[:, None, :stop])
            heads = []
            for h in range(self.heads):
                k, v = cut["k"][:, h // per_group, :stop], cut["v"][:, h // per_group, :stop]
                s = cut["q"][:, h, first:stop] @ np.swapaxes(k, -1, -2)
                s = s / float(self.width) ** 0.5
                heads.append(self.normalized(s, seen) @ v)
            yield np.concatenate(heads, axis=-1) @ self.w_out

    @staticmethod
    def normalized(s, seen):
        s = np.where(seen, s, s.dtype.type("-inf"))
        best = s.max(-1, keepdims=True)
        s = np.where(np.isfinite(best), s - np.where(np.isfinite(best), best, 0), -np.inf)
        e = np.exp(s)
        return e / np.maximum(e.sum(-1, keepdims=True), np.finfo(e.dtype).tiny)


def attention(x, w_qkv, w_out, heads, keep=None, kv_heads=None):
    layer = Layer(w_qkv, w_out, heads, kv_heads or heads)
    return np.concatenate(list(layer.rows(x, keep)), axis=1)
