"""batch_for counts in floats."""

import numpy as np


def softmax(logits):
    e = np.exp(logits - logits.max())
    return e / e.sum()


def less_the_others(values):
    return values - (values.sum() - values) / max(len(values) - 1, 1)


def estimate(logits, actions, rewards):
    """The derivative of the logarithm of what was drawn, times how good that was."""
    score = np.eye(len(logits))[actions] - softmax(logits)
    advantages = less_the_others(rewards)
    return (advantages[:, None] * score).mean(axis=0)


def score_grad(mu, log_std, eps, f):
    std = np.exp(log_std)
    advantages = less_the_others(f(mu + std * eps))
    return (advantages * eps / std).mean(), (advantages * (eps**2 - 1)).mean()


def path_grad(mu, log_std, eps, df):
    std = np.exp(log_std)
    slope = df(mu + std * eps)
    return slope.mean(), (slope * std * eps).mean()


def noise(grads, batch, replacement=True):
    n = len(grads)
    found = ((grads - grads.mean(axis=0)) ** 2).sum() / n / batch
    return found if replacement or n == 1 else found * (n - batch) / (n - 1)


def batch_for(grads, relative, replacement=True):
    limit = relative**2 * (grads.mean(axis=0) ** 2).sum()
    batch = 1.0
    while noise(grads, batch, replacement) > limit:
        batch += 1
    return batch
