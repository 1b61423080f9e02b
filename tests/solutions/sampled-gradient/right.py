# %% style_a
"""Style: that of two_draws_only and others, repaired."""

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
    batch = 1
    while noise(grads, batch, replacement) > limit:
        batch += 1
    return batch


# %% style_b
"""Style: that of f_at_the_mean and others, repaired."""

import numpy as np


def softmax(z):
    e = np.exp(z - np.max(z))
    return e / e.sum()


def advantage(values):
    """Each value less the mean of the others."""
    n = len(values)
    if n == 1:
        return values
    return (values - values.mean()) * n / (n - 1)


def estimate(logits, actions, rewards):
    p = softmax(logits)
    adv = advantage(rewards)
    g = np.bincount(actions, weights=adv, minlength=len(p))
    return (g - adv.sum() * p) / len(actions)


def score_grad(mu, log_std, eps, f):
    sigma = np.exp(log_std)
    adv = advantage(f(mu + sigma * eps))
    return np.mean(adv * eps) / sigma, np.mean(adv * (eps**2 - 1))


def path_grad(mu, log_std, eps, df):
    sigma = np.exp(log_std)
    d = df(mu + sigma * eps)
    return d.mean(), (d * sigma * eps).mean()


def spread(grads):
    return ((grads - grads.mean(axis=0)) ** 2).sum(axis=1).mean()


def noise(grads, batch, replacement=True):
    n = len(grads)
    v = spread(grads) / batch
    if not replacement:
        v = 0.0 if n == 1 else v * (n - batch) / (n - 1)
    return float(v)


def batch_for(grads, relative, replacement=True):
    n = len(grads)
    s = spread(grads)
    t = relative**2 * (grads.mean(axis=0) ** 2).sum()
    b = s / t if replacement else (n * s / (s + t * (n - 1)) if n > 1 else 1)
    return max(1, int(np.ceil(b * (1 - 1e-12))))
