# %% batch-partition
"""Style: the whole batch at once: a partition, a mask for ties, and a sort of what is left."""

import numpy as np

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    z = np.array(logits)
    vocabulary = z.shape[1]
    if temperature == 0:
        top_k, temperature = 1, 1.0
    if 0 < top_k < vocabulary:
        kth = np.partition(z, vocabulary - top_k, axis=1)[:, [vocabulary - top_k]]
        room = top_k - (z > kth).sum(axis=1, keepdims=True)
        tied = z == kth
        tied &= np.cumsum(tied, axis=1, dtype=np.int32) > room
        z[(z < kth) | tied] = -np.inf
    top = z.max(axis=1, keepdims=True)
    z -= np.where(np.isfinite(top), top, 0)
    z /= temperature
    np.exp(z, out=z)
    total = z.sum(axis=1, keepdims=True)
    z /= np.where(total > 0, total, 1)
    if top_p < 1:
        for row in z:
            left = np.flatnonzero(row)
            order = left[np.argsort(-row[left], kind="stable")]
            before = np.cumsum(row[order]) - row[order]
            row[order[before >= top_p]] = 0
            if len(left):
                row /= row.sum()
    return z

def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    p = probs(logits, temperature, top_k, top_p)
    past = np.cumsum(p, axis=1) > u[:, None]
    last = p.shape[1] - 1 - np.argmax(p[:, ::-1] > 0, axis=1)
    token = np.where(past.any(axis=1), past.argmax(axis=1), last)
    return np.where(p.any(axis=1), token, -1).astype(np.int64)

# %% heap
"""Python's heap finds the k best (it prefers the first of equals), and a loop finds the nucleus."""

import heapq
import math

import numpy as np

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.zeros(logits.shape)
    for row, out in zip(logits, p):
        values = row.tolist()
        if temperature == 0:
            wanted = 1
        else:
            wanted = top_k or len(values)
        best = heapq.nsmallest(wanted, range(len(values)), key=lambda i: -values[i])
        best = [i for i in best if values[i] > -math.inf]
        if not best:
            continue
        scale = temperature or 1.0
        weights = [math.exp((values[i] - values[best[0]]) / scale) for i in best]
        reach = math.inf if top_p == 1 else top_p * math.fsum(weights)
        kept, total = [], 0.0
        for token, weight in zip(best, weights):
            if total >= reach:
                break
            kept.append((token, weight))
            total += weight
        total = math.fsum(w for _, w in kept)
        for token, weight in kept:
            out[token] = weight / total
    return p

def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    drawn = []
    for row, number in zip(probs(logits, temperature, top_k, top_p).tolist(), u.tolist()):
        total, token = 0.0, -1
        for i, share in enumerate(row):
            if share > 0:
                token, total = i, total + share
                if total > number:
                    break
        drawn.append(token)
    return np.array(drawn, dtype=np.int64)

# %% lexsort
"""Whole rows are sorted by (logit, index); what is worked on is one row at a time."""

import numpy as np

def one_row(row, temperature, top_k, top_p):
    out = np.zeros(row.shape[0])
    order = np.lexsort((np.arange(row.shape[0]), -row))
    order = order[row[order] != -np.inf]
    if temperature == 0:
        out[order[:1]] = 1.0
        return out
    if top_k > 0:
        order = order[:top_k]
    if order.size:
        z = row[order] / temperature
        p = np.exp(z - z.max())
        p /= p.sum()
        if top_p < 1.0:
            shifted = np.roll(np.cumsum(p), 1)
            shifted[0] = 0.0
            p = np.where(shifted < top_p, p, 0.0)
        out[order] = p / p.sum()
    return out

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = np.empty(logits.shape)
    for i in range(logits.shape[0]):
        p[i] = one_row(logits[i], temperature, top_k, top_p)
    return p

def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    drawn = -np.ones(logits.shape[0], dtype=np.int64)
    for i in range(logits.shape[0]):
        p = one_row(logits[i], temperature, top_k, top_p)
        enough = np.flatnonzero((np.cumsum(p) > u[i]) & (p > 0))
        weighty = np.flatnonzero(p > 0)
        if weighty.size:
            drawn[i] = enough[0] if enough.size else weighty[-1]
    return drawn

# %% log-space
"""Log-probabilities throughout: filters set minus infinity, as a stack of logits processors does."""

import numpy as np

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    return np.stack([np.exp(log_probs(row, temperature, top_k, top_p)) for row in logits])

def log_probs(row, temperature, top_k, top_p):
    scores = row.astype(np.float64)  # a copy
    if temperature == 0:
        top_k = 1
    else:
        scores /= temperature
    for one in (by_rank(row, top_k), by_mass(top_p)):
        normalize(scores)
        one(scores)
    normalize(scores)
    return scores

def normalize(scores):
    top = scores.max()
    if top > -np.inf:
        scores -= top
        scores -= np.log(np.exp(scores).sum())

def by_rank(row, k):
    def keep(scores):
        if not 0 < k < len(row):
            return
        kth = np.partition(row, -k)[-k]
        surplus = np.flatnonzero(row == kth)[k - np.count_nonzero(row > kth) :]
        scores[row < kth] = -np.inf
        scores[surplus] = -np.inf

    return keep

def by_mass(top_p):
    def keep(scores):
        if top_p == 1:
            return
        alive = np.flatnonzero(scores > -np.inf)
        order = alive[np.argsort(-scores[alive], kind="stable")]
        mass = 0.0
        for place, token in enumerate(order):
            if mass >= top_p:
                scores[order[place:]] = -np.inf
                return
            mass += np.exp(scores[token])

    return keep

def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    tokens = np.empty(len(logits), np.int64)
    for i, row in enumerate(probs(logits, temperature, top_k, top_p)):
        possible = np.flatnonzero(row)
        total = np.add.accumulate(row[possible])
        place = np.count_nonzero(total <= u[i])
        tokens[i] = possible[min(place, len(possible) - 1)] if len(possible) else -1
    return tokens

# %% repeated-argmax
"""No sort: the best token is taken out again and again, until there are k, or enough for top_p.

Without top_k and top_p nothing is taken out at all.
"""

import numpy as np

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    return np.concatenate([distribution(row, temperature, top_k, top_p)[None] for row in logits])

def distribution(row, temperature, top_k, top_p):
    allowed = np.count_nonzero(row > -np.inf)
    if allowed == 0:
        return np.zeros(len(row))
    if temperature == 0:
        top_k, temperature = 1, 1.0
    k = min(top_k, allowed) if top_k else allowed
    if k == allowed and top_p == 1:
        weights = np.exp((row - row.max()) / temperature)
        return weights / weights.sum()
    left = np.array(row)
    taken = []
    for _ in range(k):
        token = left.argmax()  # the first of equals
        taken.append(token)
        left[token] = -np.inf
    weights = np.exp((row[taken] - row[taken[0]]) / temperature)
    goal = top_p * weights.sum()
    n, mass = 0, 0.0
    while n < k and (top_p == 1 or mass < goal):
        mass += weights[n]
        n += 1
    out = np.zeros(len(row))
    out[taken[:n]] = weights[:n] / mass
    return out

def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    def pick(row, number):
        tokens = np.flatnonzero(row)
        if tokens.size == 0:
            return -1
        total = 0.0
        for token in tokens[:-1]:
            total += row[token]
            if total > number:
                return token
        return tokens[-1]

    p = probs(logits, temperature=temperature, top_k=top_k, top_p=top_p)
    return np.fromiter(map(pick, p, u), dtype=np.int64, count=len(p))

# %% sampler-object
"""A class holds the settings, and steps in a list turn candidates into fewer candidates."""

from dataclasses import dataclass

import numpy as np

@dataclass
class Candidates:
    tokens: np.ndarray  # in falling order of their logits
    logits: np.ndarray

    def first(self, n):
        return Candidates(self.tokens[:n], self.logits[:n])

    def shares(self):
        e = np.exp(self.logits - self.logits[0])
        return e / e.sum()

class Sampler:
    def __init__(self, temperature, top_k, top_p):
        self.temperature, self.top_k, self.top_p = temperature, top_k, top_p
        self.steps = []
        if temperature == 0:
            self.steps.append(lambda c: c.first(1))
        else:
            self.steps.append(lambda c: Candidates(c.tokens, c.logits / temperature))
        if top_p < 1:
            self.steps.append(self.nucleus)

    def nucleus(self, candidates):
        reached = 0.0
        for n, share in enumerate(candidates.shares(), 1):
            reached += share
            if reached >= self.top_p:
                return candidates.first(n)
        return candidates

    def gather(self, row):
        tokens = np.nonzero(~np.isneginf(row))[0]
        if self.top_k and self.top_k < tokens.size:
            values = row[tokens]
            # argpartition leaves open which of the equal ones it takes, so that they are chosen anew
            kth = values[np.argpartition(-values, self.top_k - 1)[self.top_k - 1]]
            sure = tokens[values > kth]
            open_ = tokens[values == kth][: self.top_k - sure.size]
            tokens = np.sort(np.append(sure, open_))
        return Candidates(tokens, row[tokens])

    def ranked(self, row):
        found = self.gather(row)
        order = np.argsort(-found.logits, kind="stable")
        return Candidates(found.tokens[order], found.logits[order])

    def distribution(self, row):
        p = np.zeros_like(row, subok=False)
        candidates = self.ranked(row)
        if candidates.tokens.size:
            for step in self.steps:
                candidates = step(candidates)
            p[candidates.tokens] = candidates.shares()
        return p

    def draw(self, p, u):
        if not p.any():
            return -1
        token = np.searchsorted(p.cumsum(), u, "right")
        return token if token < p.size and p[token] else p.nonzero()[0][-1]

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    sampler = Sampler(temperature, top_k, top_p)
    return np.array([sampler.distribution(np.ascontiguousarray(row)) for row in logits])

def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    sampler = Sampler(temperature, top_k, top_p)
    rows = probs(logits, temperature, top_k, top_p)
    return np.array([sampler.draw(row, number) for row, number in zip(rows, u)], dtype=np.int64)

# %% threshold-search
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

# %% whole-batch
"""All rows at once: a partition gives each row's threshold, and (B, k) arrays hold the rest."""

import numpy as np

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    rows, tokens = logits.shape
    k = min(top_k, tokens) if top_k else tokens
    if temperature == 0:
        k = 1
    chosen = candidates(logits, k)
    z = np.take_along_axis(logits, chosen, axis=1)
    best = z[:, :1].copy()
    best[np.isneginf(best)] = 0
    z = z - best
    if temperature > 0:
        z /= temperature
    e = np.exp(z)
    total = e.sum(axis=1, keepdims=True)
    p = e / np.where(total == 0, 1, total)
    if top_p < 1:
        before = np.zeros_like(p)
        np.cumsum(p[:, :-1], axis=1, out=before[:, 1:])
        p[before >= top_p] = 0
        total = p.sum(axis=1, keepdims=True)
        p /= np.where(total == 0, 1, total)
    result = np.zeros((rows, tokens))
    np.put_along_axis(result, chosen, p, axis=1)
    return result

def candidates(logits, k):
    """The k best tokens of each row, best first, (B, k)."""
    rows, tokens = logits.shape
    if k == tokens:
        return np.argsort(-logits, axis=1, kind="stable")
    kth = np.partition(logits, tokens - k, axis=1)[:, tokens - k, None]
    above = logits > kth
    level = logits == kth
    missing = k - above.sum(axis=1, keepdims=True)
    take = above | (level & (np.cumsum(level, axis=1, dtype=np.int32) <= missing))
    chosen = np.nonzero(take)[1].reshape(rows, k)
    inner = np.argsort(-np.take_along_axis(logits, chosen, axis=1), axis=1, kind="stable")
    return np.take_along_axis(chosen, inner, axis=1)

def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    p = probs(logits, temperature, top_k, top_p)
    beyond = np.cumsum(p, axis=1) > u[:, None]
    last = p.shape[1] - 1 - np.argmax(p[:, ::-1] > 0, axis=1)
    token = np.where(beyond.any(axis=1), beyond.argmax(axis=1), last)
    return np.where(p.any(axis=1), token, -1).astype(np.int64)

# %% inference-script
# part: 1
"""Style: a model's inference script: totals less the token itself, on a descending sort."""

import numpy as np

def sample_top_p(p, top_p):
    probs_idx = np.argsort(-p, axis=-1)
    probs_sort = np.take_along_axis(p, probs_idx, axis=-1)
    probs_sum = np.cumsum(probs_sort, axis=-1)
    mask = probs_sum - probs_sort > top_p
    probs_sort[mask] = 0.0
    probs_sort /= probs_sort.sum(axis=-1, keepdims=True)
    out = np.empty_like(probs_sort)
    np.put_along_axis(out, probs_idx, probs_sort, axis=-1)
    return out

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    logits = logits / temperature
    if top_k > 0:
        v = -np.sort(-logits, axis=-1)[:, : min(top_k, logits.shape[-1])]
        logits[logits < v[:, [-1]]] = -float("Inf")
    p = np.exp(logits - np.max(logits, axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    return sample_top_p(p, top_p)

def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    tokens = []
    for row, coin in zip(probs(logits, temperature, top_k, top_p), u):
        cdf = 0.0
        for i in range(len(row)):
            cdf += row[i]
            if coin < cdf:
                tokens.append(i)
                break
        else:
            tokens.append(len(row) - 1)
    return np.array(tokens)

# %% library-processors
# part: 1
"""Style: a library's logits processors, one class per setting, on an ascending sort."""

import numpy as np

def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)

class TemperatureLogitsWarper:
    def __init__(self, temperature):
        self.temperature = temperature

    def __call__(self, scores):
        return scores / self.temperature

class TopKLogitsWarper:
    def __init__(self, top_k, filter_value=-float("Inf")):
        self.top_k, self.filter_value = top_k, filter_value

    def __call__(self, scores):
        top_k = min(self.top_k, scores.shape[-1])
        indices_to_remove = scores < np.sort(scores, axis=-1)[..., -top_k, None]
        return np.where(indices_to_remove, self.filter_value, scores)

class TopPLogitsWarper:
    def __init__(self, top_p, filter_value=-float("Inf"), min_tokens_to_keep=1):
        self.top_p, self.filter_value = top_p, filter_value
        self.min_tokens_to_keep = min_tokens_to_keep

    def __call__(self, scores):
        sorted_indices = np.argsort(scores, axis=-1)
        sorted_logits = np.take_along_axis(scores, sorted_indices, -1)
        cumulative_probs = softmax(sorted_logits).cumsum(axis=-1)
        sorted_indices_to_remove = cumulative_probs <= (1 - self.top_p)
        sorted_indices_to_remove[..., -self.min_tokens_to_keep :] = False
        indices_to_remove = np.zeros_like(sorted_indices_to_remove)
        np.put_along_axis(indices_to_remove, sorted_indices, sorted_indices_to_remove, -1)
        return np.where(indices_to_remove, self.filter_value, scores)

def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    processors = [TemperatureLogitsWarper(temperature)]
    if top_k > 0:
        processors.append(TopKLogitsWarper(top_k))
    if top_p < 1.0:
        processors.append(TopPLogitsWarper(top_p))
    for processor in processors:
        logits = processor(logits)
    return softmax(logits)

def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    cdf = probs(logits, temperature, top_k, top_p).cumsum(-1)
    return (cdf < u[:, None]).sum(-1)
