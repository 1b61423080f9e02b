# %% accumulator-class
"""Style: an object that adds pieces, and is asked for the mean; row by row."""

import numpy as np

class Accumulator:
    def __init__(self, E, U, pad):
        self.E, self.U, self.pad = E, U, pad
        self.clear()

    def clear(self):
        self.loss, self.count = np.float64(0), 0
        self.dE, self.dU = np.zeros_like(self.E), np.zeros_like(self.U)

    def add(self, tokens):
        for row in tokens:
            real = row[1:] != self.pad
            if real.any():
                self._add_row(row[:-1][real], row[1:][real])
        return self

    def _add_row(self, x, y):
        i = np.arange(y.size)
        z = self.E[x] @ self.U
        z = z - z.max(axis=-1)[:, None]
        p = np.exp(z)
        norm = p.sum(axis=-1)
        self.loss += (np.log(norm) - z[i, y]).sum()
        p /= norm[:, None]
        p[i, y] -= 1
        for source, g in zip(x, p @ self.U.T):
            self.dE[source] += g
        self.dU += np.tensordot(self.E[x], p, (0, 0))
        self.count += y.size

    def divided(self, by):
        return self.loss / by, self.dE / by, self.dU / by

    def mean(self):
        return self.divided(self.count or 1)

def loss_and_grad(E, U, tokens, pad=0):
    return Accumulator(E, U, pad).add(tokens).mean()

def step(E, U, pieces, lr, pad=0):
    batch = Accumulator(E, U, pad)
    for tokens in pieces:
        batch.add(tokens)
    loss, dE, dU = batch.mean()
    return E - lr * dE, U - lr * dU, loss

def train(E, U, pieces, lr, accumulate, pad=0):
    E, U = E.copy(), U.copy()
    batch, losses = Accumulator(E, U, pad), []
    for number, tokens in enumerate(pieces):
        batch.add(tokens)
        if (number + 1) % accumulate and number + 1 < len(pieces):
            continue
        loss, dE, dU = batch.mean()
        E -= lr * dE  # the accumulator sees it, too: these are its own weights
        U -= lr * dU
        losses.append(loss)
        batch.clear()
    return E, U, losses

def rank_gradient(E, U, tokens, counts, pad=0):
    return Accumulator(E, U, pad).add(tokens).divided(sum(counts) / len(counts))[1:]

# %% closures-and-maps
"""Style: functions that return functions, reduce in place of loops, masks as weights."""

from functools import reduce
from itertools import islice

import numpy as np

def adder(E, U, pad):
    def add(total, row):
        x, y = row[:-1], row[1:]
        weight = (y != pad).astype(E.dtype)
        z = E[x] @ U
        log_p = z - np.logaddexp.reduce(z, axis=-1, keepdims=True, initial=-np.inf)
        here = (np.arange(len(y)), y)
        g = np.exp(log_p)
        g[here] -= 1
        g *= weight[:, None]
        dE = np.stack(
            [np.bincount(x, column, minlength=len(E)) for column in (g @ U.T).T], axis=1
        )
        parts = (-(weight * log_p[here]).sum(), dE, E[x].T @ g, weight.sum())
        return tuple(a + b for a, b in zip(total, parts))

    return add

def batch(E, U, pieces, pad):
    rows = (row for tokens in pieces for row in tokens)
    nothing = (0.0, np.zeros(E.shape), np.zeros(U.shape), 0.0)
    return reduce(adder(E, U, pad), rows, nothing)

def over(count):
    return (lambda a: a / count) if count > 0 else (lambda a: a * 0.0)

def loss_and_grad(E, U, tokens, pad=0):
    *sums, count = batch(E, U, [tokens], pad)
    return tuple(map(over(count), sums))

def step(E, U, pieces, lr, pad=0):
    *sums, count = batch(E, U, pieces, pad)
    loss, dE, dU = map(over(count), sums)
    return E - lr * dE, U - lr * dU, loss

def train(E, U, pieces, lr, accumulate, pad=0):
    source, losses = iter(pieces), []
    while group := list(islice(source, accumulate)):
        E, U, loss = step(E, U, group, lr, pad)
        losses.append(loss)
    return E, U, losses

def rank_gradient(E, U, tokens, counts, pad=0):
    _, dE, dU, _ = batch(E, U, [tokens], pad)
    return tuple(len(counts) / sum(counts) * part for part in (dE, dU))

# %% counts-of-pairs
"""Another algorithm: all occurrences of an input share their logits, so pairs are counted.

For each token x the loss needs how often each y follows it, and nothing else.
"""

import numpy as np

def followers(pieces, pad):
    found = {}
    for tokens in pieces:
        for x, y in zip(tokens[:, :-1].flat, tokens[:, 1:].flat):
            if y != pad:
                found.setdefault(int(x), []).append(int(y))
    return found

def sums(E, U, pieces, pad):
    loss, count = 0.0, 0
    dE, dU = np.zeros_like(E), np.zeros_like(U)
    for x, ys in followers(pieces, pad).items():
        often = np.bincount(ys, minlength=len(E))
        z = E[x] @ U
        z = z - z.max()
        log_total = np.log(np.exp(z).sum())
        loss += often @ (log_total - z)
        g = often.sum() * np.exp(z - log_total) - often
        dE[x] = U @ g
        dU += np.outer(E[x], g)
        count += len(ys)
    return loss, dE, dU, count

def mean(loss, dE, dU, count):
    if count == 0:
        return 0.0, dE, dU
    return loss / count, dE / count, dU / count

def loss_and_grad(E, U, tokens, pad=0):
    return mean(*sums(E, U, [tokens], pad))

def step(E, U, pieces, lr, pad=0):
    loss, dE, dU = mean(*sums(E, U, pieces, pad))
    return E - lr * dE, U - lr * dU, loss

def train(E, U, pieces, lr, accumulate, pad=0):
    losses, waiting = [], list(pieces)
    while waiting:
        E, U, loss = step(E, U, waiting[:accumulate], lr, pad)
        waiting = waiting[accumulate:]
        losses.append(loss)
    return E, U, losses

def rank_gradient(E, U, tokens, counts, pad=0):
    _, dE, dU, own = sums(E, U, [tokens], pad)
    if own == 0:
        return dE, dU
    share = own / sum(counts) * len(counts)
    return share * dE / own, share * dU / own

# %% gradient-of-logits-by-token
"""Style: a generator gives the gradient of the logits row by row; dE by sorting and reduceat."""

import numpy as np

def rows_of(tokens, pad):
    for b in range(tokens.shape[0]):
        length = 1 + int(np.count_nonzero(tokens[b, 1:] != pad))
        if length > 1:
            yield tokens[b, : length - 1], tokens[b, 1:length]

def gathered(x, g, V):
    out = np.zeros((V, g.shape[1]))
    order = np.argsort(x, kind="stable")
    values, first = np.unique(x[order], return_index=True)
    out[values] = np.add.reduceat(g[order], first, axis=0)
    return out

def raw(E, U, pieces, pad):
    V = len(E)
    loss, gE, gU, n = 0.0, np.zeros_like(E), np.zeros_like(U), 0
    for tokens in pieces:
        for x, y in rows_of(tokens, pad):
            z = np.matmul(E[x], U)
            top = np.max(z, axis=1)
            lse = top + np.log(np.sum(np.exp(z - top[:, None]), axis=1))
            loss = loss + np.sum(lse - z[np.arange(len(y)), y])
            g = np.exp(z - lse[:, None]) - (y[:, None] == np.arange(V))
            gE = gE + gathered(x, g @ np.transpose(U), V)
            gU = gU + np.transpose(E[x]) @ g
            n = n + len(y)
    return loss, gE, gU, n

def loss_and_grad(E, U, tokens, pad=0):
    loss, gE, gU, n = raw(E, U, (tokens,), pad)
    scale = 1 / n if n else 0.0
    return loss * scale, gE * scale, gU * scale

def step(E, U, pieces, lr, pad=0):
    loss, gE, gU, n = raw(E, U, pieces, pad)
    scale = 1 / n if n else 0.0
    return E - lr * scale * gE, U - lr * scale * gU, loss * scale

def train(E, U, pieces, lr, accumulate, pad=0):
    if len(pieces) == 0:
        return E, U, []
    E, U, loss = step(E, U, pieces[:accumulate], lr, pad)
    E, U, losses = train(E, U, pieces[accumulate:], lr, accumulate, pad)
    return E, U, [loss, *losses]

def rank_gradient(E, U, tokens, counts, pad=0):
    _, gE, gU, _ = raw(E, U, (tokens,), pad)
    mean_count = sum(counts) / len(counts)
    return gE / mean_count, gU / mean_count

# %% in-place-on-own-buffers
"""Style: one buffer of logits per call, filled again and again with out=; the update on copies."""

import numpy as np

ROWS = 32

class Sums:
    """Own arrays that a call fills."""

    def __init__(self, E, U):
        self.dE, self.dU = np.zeros(E.shape, E.dtype), np.zeros(U.shape, U.dtype)
        self.z = np.empty((ROWS, E.shape[0]), E.dtype)
        self.loss, self.n = 0.0, 0

    def take(self, E, U, x, y):
        z = self.z[: len(x)]
        np.matmul(E[x], U, out=z)
        np.subtract(z, z.max(1)[:, None], out=z)
        self.loss -= z[range(len(y)), y].sum()
        np.exp(z, out=z)
        norm = z.sum(1)
        self.loss += np.log(norm).sum()
        np.divide(z, norm[:, None], out=z)
        z[range(len(y)), y] -= 1
        np.add.at(self.dE, x, z @ U.T)
        self.dU += E[x].T @ z
        self.n += len(y)

def fill(E, U, pieces, pad):
    sums = Sums(E, U)
    for tokens in pieces:
        where = np.argwhere(tokens[:, 1:] != pad)
        for i in range(0, len(where), ROWS):
            b, t = where[i : i + ROWS].T
            sums.take(E, U, tokens[b, t], tokens[b, t + 1])
    return sums

def loss_and_grad(E, U, tokens, pad=0):
    sums = fill(E, U, [tokens], pad)
    if sums.n:
        sums.dE /= sums.n
        sums.dU /= sums.n
        sums.loss /= sums.n
    return float(sums.loss), sums.dE, sums.dU

def step(E, U, pieces, lr, pad=0):
    sums = fill(E, U, pieces, pad)
    E, U = np.array(E), np.array(U)
    if sums.n:
        E -= np.multiply(sums.dE, lr / sums.n, out=sums.dE)
        U -= np.multiply(sums.dU, lr / sums.n, out=sums.dU)
        sums.loss /= sums.n
    return E, U, float(sums.loss)

def train(E, U, pieces, lr, accumulate, pad=0):
    losses = [0.0] * -(-len(pieces) // accumulate)
    for i in range(len(losses)):
        E, U, losses[i] = step(E, U, pieces[accumulate * i : accumulate * (i + 1)], lr, pad)
    return E, U, losses

def rank_gradient(E, U, tokens, counts, pad=0):
    sums = fill(E, U, [tokens], pad)
    total = sum(counts)
    sums.dE *= len(counts) / total
    sums.dU *= len(counts) / total
    return sums.dE, sums.dU

# %% one-flat-batch
"""Style: everything is one flat list of predictions first; a generator of chunks; one-hot products."""

import numpy as np

def pairs(pieces, pad):
    x = np.concatenate([p[:, :-1].reshape(-1) for p in pieces])
    y = np.concatenate([p[:, 1:].reshape(-1) for p in pieces])
    return x[y != pad], y[y != pad]

def chunks(x, y, size=20):
    for i in range(0, x.size, size):
        yield x[i : i + size], y[i : i + size]

def totals(E, U, x, y):
    V = E.shape[0]
    L, gE, gU = 0.0, np.zeros(E.shape), np.zeros(U.shape)
    for xs, ys in chunks(x, y):
        z = E[xs] @ U
        m = z.max(1, keepdims=True)
        e = np.exp(z - m)
        s = e.sum(1, keepdims=True)
        L += float((m + np.log(s)).sum() - np.take_along_axis(z, ys[:, None], 1).sum())
        r = e / s - (np.arange(V) == ys[:, None])
        sources = (np.arange(V)[:, None] == xs).astype(float)
        gE += np.einsum("vn,nw,dw->vd", sources, r, U, optimize=True)
        gU += np.einsum("nd,nw->dw", E[xs], r)
    return L, gE, gU

def loss_and_grad(E, U, tokens, pad=0):
    x, y = pairs([tokens], pad)
    n = max(1, y.size)
    L, gE, gU = totals(E, U, x, y)
    return L / n, gE / n, gU / n

def step(E, U, pieces, lr, pad=0):
    x, y = pairs(pieces, pad)
    n = max(1, y.size)
    L, gE, gU = totals(E, U, x, y)
    return E - (lr / n) * gE, U - (lr / n) * gU, L / n

def train(E, U, pieces, lr, accumulate, pad=0):
    groups = [pieces[i : i + accumulate] for i in range(0, len(pieces), accumulate)]
    losses = []
    for group in groups:
        E, U, loss = step(E, U, group, lr, pad)
        losses.append(loss)
    return E, U, np.array(losses)

def rank_gradient(E, U, tokens, counts, pad=0):
    _, gE, gU = totals(E, U, *pairs([tokens], pad))
    return gE / np.mean(counts), gU / np.mean(counts)

# %% token-by-token
"""Style: one prediction after the other, in loops over rows and positions."""

import numpy as np

def add_up(E, U, pieces, pad):
    loss, n = 0.0, 0
    gE, gU = np.zeros(E.shape), np.zeros(U.shape)
    for tokens in pieces:
        B, T = tokens.shape
        for b in range(B):
            for t in range(T - 1):
                x, y = tokens[b, t], tokens[b, t + 1]
                if y == pad:
                    continue
                logits = E[x] @ U
                log_p = logits - np.logaddexp.reduce(logits)
                delta = np.exp(log_p)
                delta[y] -= 1.0
                loss -= log_p[y]
                gE[x] += U @ delta
                gU += E[x][:, None] * delta
                n += 1
    return loss, gE, gU, n

def loss_and_grad(E, U, tokens, pad=0):
    loss, gE, gU, n = add_up(E, U, [tokens], pad)
    return (loss / n, gE / n, gU / n) if n else (0.0, gE, gU)

def step(E, U, pieces, lr, pad=0):
    loss, gE, gU, n = add_up(E, U, pieces, pad)
    if not n:
        return E, U, 0.0
    return E - lr * gE / n, U - lr * gU / n, loss / n

def train(E, U, pieces, lr, accumulate, pad=0):
    losses, group = [], []
    for i, piece in enumerate(pieces, 1):
        group.append(piece)
        if i % accumulate == 0 or i == len(pieces):
            E, U, loss = step(E, U, group, lr, pad)
            losses.append(loss)
            group = []
    return E, U, losses

def rank_gradient(E, U, tokens, counts, pad=0):
    _, gE, gU, _ = add_up(E, U, [tokens], pad)
    total = sum(counts)
    return gE * len(counts) / total, gU * len(counts) / total

# %% library-shift
# part: 1
"""Style: a library's model, which shifts logits and labels itself and masks labels with -100."""

import numpy as np

IGNORE = -100

def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)

def loss_and_grad(E, U, tokens, pad=0):
    labels = np.where(tokens == pad, IGNORE, tokens)
    hidden = E[tokens]
    logits = hidden @ U
    shift_logits = logits[..., :-1, :].reshape(-1, U.shape[1])
    shift_labels = labels[..., 1:].reshape(-1)
    active = shift_labels != IGNORE
    probs = softmax(shift_logits)
    safe = np.where(active, shift_labels, 0)
    nll = -np.log(probs[np.arange(len(safe)), safe])
    loss = nll[active].mean()

    dlogits = probs
    dlogits[np.arange(len(safe)), safe] -= 1
    dlogits = dlogits * active[:, None] / active.sum()
    h = hidden[..., :-1, :].reshape(-1, E.shape[1])
    dU = h.T @ dlogits
    dE = np.zeros(E.shape)
    np.add.at(dE, tokens[..., :-1].reshape(-1), dlogits @ U.T)
    return loss, dE, dU

# %% small-gpt
# part: 1
"""Style: x and y cut from the batch as in a small GPT, one-hot matrices for the embedding."""

import numpy as np

def get_batch(data):
    return data[:, :-1], data[:, 1:]

def cross_entropy(logits, targets, ignore_index):
    mask = (targets != ignore_index).astype(logits.dtype)
    logits = logits - logits.max(-1, keepdims=True)
    logsumexp = np.log(np.exp(logits).sum(-1))
    picked = np.take_along_axis(logits, targets[:, None], -1)[:, 0]
    n = mask.sum()
    loss = ((logsumexp - picked) * mask).sum() / n
    probs = np.exp(logits - logsumexp[:, None])
    onehot = np.eye(logits.shape[-1])[targets]
    return loss, (probs - onehot) * mask[:, None] / n

def loss_and_grad(wte, lm_head, idx, pad=0):
    x, y = get_batch(idx)
    B, T = x.shape
    onehot_x = np.eye(len(wte))[x].reshape(B * T, -1)
    tok_emb = onehot_x @ wte
    loss, dlogits = cross_entropy(tok_emb @ lm_head, y.reshape(B * T), ignore_index=pad)
    dtok_emb = dlogits @ lm_head.T
    return float(loss), onehot_x.T @ dtok_emb, tok_emb.T @ dlogits
