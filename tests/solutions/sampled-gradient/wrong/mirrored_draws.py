"""score_grad asks for f at the mirrored draws too."""

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
    adv = (f(mu + sigma * eps) - f(mu - sigma * eps)) / 2
    return np.mean(adv * eps) / sigma, np.mean(advantage(f(mu + sigma * eps)) * (eps**2 - 1))
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
