"""Einsums; the logarithm of the normalizer is kept, and minus infinity where there is none."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}


def scores(q, k, causal):
    s = np.einsum("ntd,nsd->nts", q, k) / q.dtype.type(np.sqrt(q.shape[-1]))
    if causal:
        t, n = s.shape[1:]
        s[:, ~np.tri(t, n, n - t, dtype=bool)] = -np.inf
    return s


def attention_forward(q, k, v, causal=False):
    log_total = np.logaddexp.reduce(scores(q, k, causal), axis=-1)
    p = rebuild(q, k, log_total, causal)
    o = np.einsum("nts,nse->nte", p, v)
    return o, {"q": q, "k": k, "v": v, "o": o, "log_total": log_total, "causal": causal}


def rebuild(q, k, log_total, causal):
    finite = np.where(np.isneginf(log_total), 0, log_total)
    return np.exp(scores(q, k, causal) - finite[..., None])


def attention_backward(grad_o, ctx):
    q, k, v, o = (ctx[name] for name in "qkvo")
    p = rebuild(q, k, ctx["log_total"], ctx["causal"])
    dot = np.einsum("nte,nte->nt", grad_o, o)
    ds = p * (np.einsum("nte,nse->nts", grad_o, v) - dot[..., None])
    ds /= q.dtype.type(np.sqrt(q.shape[-1]))
    return (
        np.einsum("nts,nsd->ntd", ds, k),
        np.einsum("nts,ntd->nsd", ds, q),
        np.einsum("nts,nte->nse", p, grad_o),
    )
