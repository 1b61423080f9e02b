# %% keeps_all_in_lists
"""Wrong: lists of pairs for the whole batch are alive at once, in part 3 too."""

import math

import numpy as np


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    batch = [sorted((-value, i) for i, value in enumerate(row)) for row in logits.tolist()]
    result = np.zeros(logits.shape)
    for out, pairs in zip(result, batch):
        pairs = [pair for pair in pairs if pair[0] < math.inf]
        pairs = pairs[: 1 if temperature == 0 else top_k or None]
        if not pairs:
            continue
        best, scale = pairs[0][0], temperature or 1.0
        weights = [math.exp((best - value) / scale) for value, _ in pairs]
        goal = math.inf if top_p == 1 else top_p * sum(weights)
        total, n = 0.0, 0
        while n < len(weights) and total < goal:
            total += weights[n]
            n += 1
        for weight, (_, token) in zip(weights[:n], pairs):
            out[token] = weight / total
    return result


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    drawn = []
    for row, number in zip(probs(logits, temperature, top_k, top_p), u):
        total, token = 0.0, -1
        for i in np.flatnonzero(row):
            total, token = total + row[i], i
            if total > number:
                break
        drawn.append(token)
    return np.array(drawn, dtype=np.int64)


# %% sorts_the_whole_batch
"""Wrong: arrays of the size of the batch hold the order and all shares, in part 3 too."""

import numpy as np


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    k = 1 if temperature == 0 else top_k or logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    z = np.take_along_axis(logits, order, axis=1)
    z = np.where(np.arange(z.shape[1]) < k, z, -np.inf)
    top = np.where(np.isfinite(z[:, :1]), z[:, :1], 0)
    e = np.exp((z - top) / (temperature or 1.0))
    p = e / np.maximum(e.sum(axis=1, keepdims=True), 1e-300)
    if top_p < 1:
        total = np.cumsum(p, axis=1)
        before = np.concatenate([np.zeros_like(total[:, :1]), total[:, :-1]], axis=1)
        p = np.where(before < top_p, p, 0)
        p = p / np.maximum(p.sum(axis=1, keepdims=True), 1e-300)
    result = np.zeros_like(p)
    np.put_along_axis(result, order, p, axis=1)
    return result


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    p = probs(logits, temperature, top_k, top_p)
    total = np.cumsum(p, axis=1)
    last = p.shape[1] - 1 - np.argmax(p[:, ::-1] > 0, axis=1)
    token = np.minimum((total <= u[:, None]).sum(axis=1), last)
    return np.where(p.any(axis=1), token, -1).astype(np.int64)


# %% tiny_top_p_gives_nan
"""Wrong: the sum from below exceeds 1 - top_p nowhere, if top_p is tiny."""

import numpy as np


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    out = np.zeros_like(logits)
    for b, row in enumerate(logits):
        if not np.isfinite(row).any():
            continue
        order = np.argsort(-row, kind="stable")
        if temperature == 0:
            out[b, order[0]] = 1
            continue
        z = row / temperature
        if top_k:
            order = order[:top_k]
        e = np.exp(z[order] - z[order].max())
        p = e / e.sum()
        if top_p < 1:
            up = p[::-1]
            c = np.cumsum(up)
            keep = (c > 1 - top_p)[::-1]
            p = np.where(keep, p, 0)
            p = p / p.sum()
        out[b, order] = p
    return out


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    p = probs(logits, temperature, top_k, top_p)
    out = []
    for r, x in zip(p, u):
        a = np.nonzero(np.cumsum(r) > x)[0]
        l = np.nonzero(r)[0]
        out.append(a[0] if len(a) else l[-1] if len(l) else -1)
    return np.array(out, dtype=np.int64)
