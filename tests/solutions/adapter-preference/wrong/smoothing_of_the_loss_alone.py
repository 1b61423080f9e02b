"""Wrong: smoothing is in the loss and not in the gradient."""
# named: smoothed-in-one-place

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
    slope = -np.exp(-wrong) / len(margin)
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
