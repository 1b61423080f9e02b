"""Closures over the queries; a list holds what is known so far, and a reduction runs over it."""

from functools import reduce

import numpy as np


def scorer(q, k, mask):
    def scores(part):
        s = np.einsum("td,sd->ts", q, k[part]) / np.sqrt(q.shape[1])
        return s if mask is None else np.where(mask[:, part], s, -np.inf)

    return scores


def spans(count, block):
    return (np.s_[i : min(i + block, count)] for i in range(0, count, block))


def safe(x):
    return np.where(np.isneginf(x), 0.0, x)


def attend(q, k, v, block, mask=None):
    scores = scorer(q, k, mask)

    def follow(state, part):
        s = scores(part)
        top = np.maximum(state[0], s.max(-1))
        values = np.concatenate([v[part], np.ones((s.shape[1], 1))], axis=1)
        fresh = np.einsum("ts,se->te", np.exp(s - safe(top)[:, None]), values)
        return top, state[1] * np.exp(state[0] - safe(top))[:, None] + fresh

    start = np.full(q.shape[0], -np.inf), np.zeros((q.shape[0], v.shape[1] + 1))
    top, sums = reduce(follow, spans(k.shape[0], block), start)
    return finish(top, sums)


def finish(top, sums):
    total = sums[:, -1] + (sums[:, -1] == 0)
    return sums[:, :-1] / total[:, None], top + np.log(total)


def merge(o1, lse1, o2, lse2):
    top = np.maximum(lse1, lse2)
    ones = np.ones((len(o1), 1))
    sums = sum(
        np.concatenate([o, ones], axis=1) * np.exp(lse - safe(top))[:, None]
        for o, lse in ((o1, lse1), (o2, lse2))
    )
    return finish(top, sums)


def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    scores, off = scorer(q, k, mask), safe(lse)[:, None]
    dot = np.einsum("te,te->t", grad_o, o)[:, None]
    grads = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for part in spans(k.shape[0], block):
        p = np.exp(scores(part) - off)
        ds = p * (np.einsum("te,se->ts", grad_o, v[part]) - dot) / np.sqrt(q.shape[1])
        grads[0][:] += np.einsum("ts,sd->td", ds, k[part])
        grads[1][part] = np.einsum("ts,td->sd", ds, q)
        grads[2][part] = np.einsum("ts,te->se", p, grad_o)
    return grads
