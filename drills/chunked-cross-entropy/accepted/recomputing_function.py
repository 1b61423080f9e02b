"""Style: a custom autograd function that makes each chunk's logits again in the backward pass."""

import numpy as np


def loss_forward(h, w, target, chunk, ignore_index=-100):
    losses = []
    for hc, tc in zip(_split(h, chunk), _split(target, chunk)):
        logits = hc @ w.T
        logits -= logits.max(axis=-1, keepdims=True)
        losses.append(-np.log(_softmax(logits))[np.arange(len(tc)), tc])
    return np.concatenate(losses).mean(), {"h": h, "w": w, "target": target, "chunk": chunk}


def loss_backward(grad_loss, ctx):
    h, w, target, chunk = ctx["h"], ctx["w"], ctx["target"], ctx["chunk"]
    dh, dw = [], 0
    for hc, tc in zip(_split(h, chunk), _split(target, chunk)):
        dlogits = _softmax(hc @ w.T)
        dlogits[np.arange(len(tc)), tc] -= 1
        dlogits *= grad_loss / len(target)
        dh.append(dlogits @ w)
        dw = dw + dlogits.T @ hc
    return np.concatenate(dh), dw


def _split(a, chunk):
    return [a[i : i + chunk] for i in range(0, len(a), chunk)]


def _softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
