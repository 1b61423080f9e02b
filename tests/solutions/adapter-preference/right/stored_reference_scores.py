"""Reference scores first, as though they had been stored; every array goes by answers."""

import numpy as np


def log_probabilities(z, words):
    """Those of some words, and of all."""
    z = z - np.max(z, axis=1, keepdims=True)
    z = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return z[range(len(words)), words], z


def stored(hidden, tokens, spans, weight):
    return [
        log_probabilities(hidden[n, s.start - 1 : s.stop - 1] @ weight.T, tokens[n, s])[0].sum()
        for n, s in enumerate(spans)
    ]


def preference_loss(
    hidden, tokens, prompt, length, weight, a, b, alpha, beta, smoothing=0.0
):
    spans = [slice(int(p), int(n)) for p, n in zip(prompt, length, strict=True)]
    before = np.array(stored(hidden, tokens, spans, weight))
    scale, half = alpha / a.shape[0], len(tokens) // 2
    now, slopes = [], []
    for n, s in enumerate(spans):
        h = hidden[n, s.start - 1 : s.stop - 1]
        down = h @ a.T
        picked, every = log_probabilities(h @ weight.T + scale * down @ b.T, tokens[n, s])
        now.append(picked.sum())
        error = -np.exp(every)
        error[range(len(error)), tokens[n, s]] += 1
        slopes.append((scale * (error @ b).T @ h, scale * error.T @ down))
    moved = np.array(now) - before
    margin = beta * (moved[:half] - moved[half:])
    likely, unlikely = -np.logaddexp(0, -margin), -np.logaddexp(0, margin)
    loss = -np.average(np.stack([likely, unlikely]), axis=0, weights=[1 - smoothing, smoothing])
    pull = beta / half * (np.exp(likely) - (1 - smoothing))
    grad_a = sum(w * (slopes[i][0] - slopes[half + i][0]) for i, w in enumerate(pull))
    grad_b = sum(w * (slopes[i][1] - slopes[half + i][1]) for i, w in enumerate(pull))
    return float(loss.mean()), grad_a, grad_b


def fresh(weight, rank, rng):
    a = np.zeros((rank, weight.shape[1]))
    rng.standard_normal(out=a)
    return a * 0.1, np.zeros((weight.shape[0], rank))


def merged(weight, a, b, alpha):
    found = np.array(weight, dtype=np.float64)
    found += np.matmul(b * (alpha / a.shape[0]), a)
    return found.astype(weight.dtype)
