"""Wrong: the margin has no reference."""

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
    gap = new[:pairs] - new[pairs:]
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
    return rng.normal(0, 1 / np.sqrt(d), (rank, d)), np.zeros((v, rank))


def merged(weight, a, b, alpha):
    return (weight + alpha / a.shape[0] * (b @ a)).astype(weight.dtype)
