# %% repaired_starter
"""The starter, with the least that has to change."""

from dataclasses import dataclass, replace

import numpy as np


@dataclass
class Head:
    """A matrix, and an adapter that is added to it."""

    weight: np.ndarray
    a: np.ndarray
    b: np.ndarray
    alpha: float

    def logits(self, h):
        scale = self.alpha / len(self.a)
        return h @ self.weight.T + scale * (h @ self.a.T) @ self.b.T

    def gradients(self, h, grad_logits):
        scale = self.alpha / len(self.a)
        grad_a = scale * np.einsum("ntr,ntd->rd", grad_logits @ self.b, h)
        grad_b = scale * np.einsum("ntv,ntr->vr", grad_logits, h @ self.a.T)
        return grad_a, grad_b


def preference_loss(hidden, tokens, prompt, length, weight, a, b, alpha, beta, smoothing=0.0):
    """The loss, and its gradients with respect to a and b."""
    policy = Head(weight, a, b, alpha)
    reference = replace(policy, b=np.zeros_like(b))
    place = np.arange(1, tokens.shape[1])
    answer = (place >= prompt[:, None]) & (place < length[:, None])
    h = np.where(answer[:, :, None], hidden[:, :-1], 0)
    targets = np.where(answer, tokens[:, 1:], 0)[:, :, None]
    log_p, frozen = log_softmax(policy.logits(h)), log_softmax(reference.logits(h))
    preferred, rejected = np.split(scores(log_p, targets, answer), 2)
    before, before_rejected = np.split(scores(frozen, targets, answer), 2)
    margin = beta * ((preferred - rejected) - (before - before_rejected))
    right, wrong = np.logaddexp(0, -margin), np.logaddexp(0, margin)
    loss = ((1 - smoothing) * right + smoothing * wrong).mean()
    slope = (smoothing * np.exp(-right) - (1 - smoothing) * np.exp(-wrong)) / len(margin)
    # of each row's score, and then of its logits
    of_rows = beta * np.concatenate([slope, -slope])
    grad = -np.exp(log_p)
    np.put_along_axis(grad, targets, 1 + np.take_along_axis(grad, targets, 2), 2)
    grad *= (of_rows[:, None] * answer)[:, :, None]
    return float(loss), *policy.gradients(h, grad)


def log_softmax(z):
    z = z - z.max(axis=2, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=2, keepdims=True))


def scores(log_p, targets, answer):
    """The log-probability of each row's answer."""
    return (np.take_along_axis(log_p, targets, 2)[:, :, 0] * answer).sum(axis=1)


def fresh(weight, rank, rng):
    """A new adapter, a and b."""
    outputs, inputs = weight.shape
    return rng.standard_normal((rank, inputs)) / np.sqrt(inputs), np.zeros((outputs, rank))


def merged(weight, a, b, alpha):
    """One matrix in place of weight and adapter."""
    return (weight + alpha / len(a) * (b @ a)).astype(weight.dtype)


# %% stored_reference_scores
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
