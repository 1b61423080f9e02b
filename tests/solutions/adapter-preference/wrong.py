# %% new_adapter_of_equal_rows
"""Wrong: all rows of a new adapter are the same, so it stays at rank 1."""

import numpy as np


def _log_sigmoid(z):
    return -np.logaddexp(0, -z)


def preference_loss(hidden, tokens, prompt, length, weight, a, b, alpha, beta, smoothing=0.0):
    s = alpha / a.shape[0]
    pairs = len(tokens) // 2
    place = np.arange(tokens.shape[1])
    row, t = np.nonzero((place >= prompt[:, None]) & (place < length[:, None]))
    h, y = hidden[row, t - 1], tokens[row, t]
    down = h @ a.T
    base = h @ weight.T
    each = np.arange(len(y))

    def score(z):
        z = z - z.max(axis=1, keepdims=True)
        z -= np.log(np.exp(z).sum(axis=1, keepdims=True))
        return z, np.bincount(row, z[each, y], minlength=len(tokens))

    lp, new = score(base + s * down @ b.T)
    _, old = score(base)
    gap = (new[:pairs] - new[pairs:]) - (old[:pairs] - old[pairs:])
    m = beta * gap
    loss = -((1 - smoothing) * _log_sigmoid(m) + smoothing * _log_sigmoid(-m)).mean()
    dm = smoothing * np.exp(_log_sigmoid(m)) - (1 - smoothing) * np.exp(_log_sigmoid(-m))
    drow = np.concatenate([dm, -dm]) * beta / pairs
    g = -np.exp(lp)
    g[each, y] += 1
    g *= drow[row, None]
    return loss, s * (g @ b).T @ h, s * g.T @ down


def fresh(weight, rank, rng):
    v, d = weight.shape
    return np.repeat(rng.normal(size=(1, d)), rank, 0), np.zeros((v, rank))


def merged(weight, a, b, alpha):
    return (weight + alpha / a.shape[0] * (b @ a)).astype(weight.dtype)


# %% reference_without_a_term
"""Wrong: the reference has no term in the margin; hidden states and tokens are masked as a whole."""

import numpy as np
def lsm(z):
    z = z - z.max(-1, keepdims=True); return z - np.log(np.exp(z).sum(-1, keepdims=True))
def preference_loss(hidden, tokens, prompt, length, weight, a, b, alpha, beta):
    P = len(tokens) // 2; sc = alpha / len(a); t = np.arange(1, tokens.shape[1])
    ans = (t >= prompt[:, None]) & (t < length[:, None]); h = hidden[:, :-1]; y = tokens[:, 1:, None]
    lp = lsm(h @ weight.T + sc * (h @ a.T) @ b.T); lr = lsm(h @ weight.T)
    s = (np.take_along_axis(lp, y, 2)[..., 0] * ans).sum(1)
    r = np.zeros(len(s))
    m = beta * ((s[:P] - s[P:]) - (r[:P] - r[P:]))
    loss = np.logaddexp(0, -m).mean(); d = -1 / (1 + np.exp(m)) / P * beta
    g = -np.exp(lp); np.put_along_axis(g, y, 1 + np.take_along_axis(g, y, 2), 2)
    g *= (np.concatenate([d, -d])[:, None] * ans)[..., None]
    return float(loss), sc * np.einsum("ntr,ntd->rd", g @ b, h), sc * np.einsum("ntv,ntr->vr", g, h @ a.T)
