"""Halving finds how many tokens stay; ranks come from counting who is ahead, in small vocabularies."""

import numpy as np


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    out = np.zeros(logits.shape)
    for b in range(len(logits)):
        row = logits[b]
        alive = np.where(row > -np.inf)[0]
        if not len(alive):
            continue
        k = 1 if temperature == 0 else (top_k or len(alive))
        best = best_of(row, alive, k)
        e = np.exp((row[best] - row[best].max()) / (temperature or 1))
        totals = np.cumsum(e)
        few, many = 1, len(best)  # the nucleus has from few to many tokens
        while few < many and top_p < 1:
            middle = (few + many) // 2
            if totals[middle - 1] >= top_p * totals[-1]:
                many = middle
            else:
                few = middle + 1
        out[b, best[:many]] = e[:many] / totals[many - 1]
    return out


def best_of(row, alive, k):
    """The k best of some tokens, best first and the lower index of equals first."""
    if k < len(alive):
        low, high = row[alive].min(), row[alive].max()
        # The largest threshold that at least k tokens reach, to the last bit.
        while True:
            middle = low + (high - low) / 2
            if not low < middle < high:
                break
            if np.count_nonzero(row >= middle) >= k:
                low = middle
            else:
                high = middle
        edge = high if np.count_nonzero(row >= high) >= k else low
        above = alive[row[alive] > edge]
        level = alive[row[alive] == edge]
        alive = np.concatenate((above, level[: k - len(above)]))
    return np.array(sorted(alive.tolist(), key=lambda i: (-row[i], i)))


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    p = probs(logits, temperature, top_k, top_p)
    drawn = np.full(len(p), -1, dtype=np.int64)
    for b, i in zip(*np.nonzero(p)):
        if drawn[b] == -1 or p[b, : drawn[b] + 1].cumsum()[-1] <= u[b]:
            drawn[b] = i
    return drawn
