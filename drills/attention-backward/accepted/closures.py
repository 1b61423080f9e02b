"""The ctx is a function; everything is computed anew from q, k and v."""

import numpy as np

WHY = {"sum-is-zero": "b", "blind-spot": "d"}


def attention_forward(q, k, v, causal=False):
    root = float(np.sqrt(q.shape[-1]))

    def softmax():
        s = (q / root) @ np.swapaxes(k, -1, -2)
        if causal:
            hidden = np.triu(np.ones(s.shape[-2:], bool), 1 + s.shape[-1] - s.shape[-2])
            s = np.where(hidden, -np.inf, s)
        e = np.exp(s - np.maximum(s.max(-1, keepdims=True), np.finfo(s.dtype).min))
        total = e.sum(-1, keepdims=True)
        return np.divide(e, total, out=np.zeros_like(e), where=total != 0)

    def backward(grad_o):
        p = softmax()
        dp = grad_o @ np.swapaxes(v, -1, -2)
        ds = p * (dp - np.sum(p * dp, axis=-1, keepdims=True)) / root
        return ds @ k, np.swapaxes(ds, -1, -2) @ q, np.swapaxes(p, -1, -2) @ grad_o

    return softmax() @ v, backward


def attention_backward(grad_o, ctx):
    return ctx(grad_o)
