"""Gradients of an expectation from draws, and how much noise is in a mean of gradients.

An estimate with a baseline is unbiased where the baseline does not depend on the draw that it is
taken off from: W. Kool, H. van Hoof and M. Welling, "Buy 4 REINFORCE Samples, Get a Baseline for
Free!", 2019.
"""

import numpy as np


def estimate(logits: np.ndarray, actions: np.ndarray, rewards: np.ndarray) -> np.ndarray:
    """Return an unbiased estimate of the gradient of the expected reward.

    Args:
        logits: (K,) float64.
        actions: (B,) int64, drawn from softmax(logits).
        rewards: (B,) float64, those of the actions.
    """
    score = np.eye(len(logits))[actions] - _softmax(logits)
    return (_advantages(rewards)[:, None] * score).mean(axis=0)


def score_grad(mu, log_std, eps, f):
    """Return the gradient of E f(z) by mu and log_std, estimated from values of f alone.

    Args:
        mu: a number.
        log_std: a number, the logarithm of the standard deviation.
        eps: (B,) standard normal draws.
        f: a function of (B,) that returns (B,).
    """
    advantages = _advantages(f(_draw(mu, log_std, eps)))
    by_mu, by_log_std = _scores(log_std, eps)
    return (advantages * by_mu).mean(), (advantages * by_log_std).mean()


def path_grad(mu, log_std, eps, df):
    """Return the gradient of E f(z) by mu and log_std, estimated from the derivative of f."""
    slope = df(_draw(mu, log_std, eps))
    by_mu, by_log_std = _paths(log_std, eps)
    return (slope * by_mu).mean(), (slope * by_log_std).mean()


def noise(grads, batch, replacement=True):
    """Return the mean squared distance of the mean of a batch from the mean of all.

    Args:
        grads: (N, P) float64, the gradient of each example.
        batch: how many of them are drawn.
        replacement: whether an example may be drawn twice.
    """
    return _trace(grads) / batch * _finite(len(grads), batch, replacement)


def batch_for(grads, relative, replacement=True):
    """Return the smallest batch with a noise of at most (relative * norm of the mean) squared."""
    limit = relative**2 * _square(grads.mean(axis=0))
    batch = 1
    while noise(grads, batch, replacement) > limit:
        batch += 1
    return batch


def _softmax(logits):
    e = np.exp(logits - logits.max())
    return e / e.sum()


def _advantages(values):
    """Return each value less the mean of the others; a single one as it is."""
    others = max(len(values) - 1, 1)
    return values - (values.sum() - values) / others


def _std(log_std):
    return np.exp(log_std)


def _draw(mu, log_std, eps):
    return mu + _std(log_std) * eps


def _scores(log_std, eps):
    """Return the derivatives of log p(z) by mu and log_std, z held fixed."""
    return eps / _std(log_std), eps**2 - 1


def _paths(log_std, eps):
    """Return the derivatives of z by mu and log_std, eps held fixed."""
    return np.ones(len(eps)), _std(log_std) * eps


def _square(vector):
    return (vector**2).sum()


def _trace(grads):
    """Return the trace of the covariance of one gradient, drawn from all of them."""
    return _square(grads - grads.mean(axis=0)) / len(grads)


def _finite(n, batch, replacement):
    """Return what is left of the variance where nothing is drawn twice."""
    return 1.0 if replacement or n == 1 else (n - batch) / (n - 1)
