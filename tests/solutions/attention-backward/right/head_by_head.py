"""One matrix at a time, with a list of small dicts for a ctx."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}


def matrix(q, k, causal):
    s = q @ k.T / np.sqrt(q.dtype.type(q.shape[1]))
    if causal:
        s = np.where(
            np.subtract.outer(np.arange(len(q)) - len(q), np.arange(len(k)) - len(k)) < 0,
            -np.inf,
            s,
        )
    with np.errstate(invalid="ignore"):
        e = np.exp(s - s.max(axis=1)[:, None])
        p = e / e.sum(axis=1)[:, None]
    return np.nan_to_num(p)


def attention_forward(q, k, v, causal=False):
    heads = [{"q": a, "k": b, "v": c, "causal": causal} for a, b, c in zip(q, k, v)]
    return np.stack([matrix(h["q"], h["k"], causal) @ h["v"] for h in heads]), heads


def one(g, h):
    p = matrix(h["q"], h["k"], h["causal"])
    dp = g @ h["v"].T
    ds = p * (dp - np.einsum("ts,ts->t", p, dp)[:, None]) / np.sqrt(g.dtype.type(h["q"].shape[1]))
    return ds @ h["k"], ds.T @ h["q"], p.T @ g


def attention_backward(grad_o, ctx):
    return tuple(np.stack(parts) for parts in zip(*(one(g, h) for g, h in zip(grad_o, ctx))))
