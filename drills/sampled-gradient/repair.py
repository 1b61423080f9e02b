"""The gradient of an expected reward, estimated from draws."""

import numpy as np


def softmax(logits):
    e = np.exp(logits - logits.max())
    return e / e.sum()


# why: The mean of all rewards depends on the draw that it is taken off from, and takes 1/B of the
#      gradient with it. The mean of the others does not, and the score has a mean of 0; a single
#      draw has no others, so that nothing is taken off.
def less_the_others(values):
    return values - (values.sum() - values) / max(len(values) - 1, 1)


def estimate(logits, actions, rewards):
    """The derivative of the log of what was drawn, times how good that was."""
    score = np.eye(len(logits))[actions] - softmax(logits)
    # why: What is taken off must not depend on the draw.
    advantages = less_the_others(rewards)
    return (advantages[:, None] * score).mean(axis=0)


# why 2: With z held fixed log p(z) is -log_std - (z - mu)^2 / (2 std^2), whose derivatives are
#        (z - mu) / std^2, which is eps / std, and eps^2 - 1. f gives numbers and nothing else.
def score_grad(mu, log_std, eps, f):
    std = np.exp(log_std)
    advantages = less_the_others(f(mu + std * eps))
    return (advantages * eps / std).mean(), (advantages * (eps**2 - 1)).mean()


# why 2: With eps held fixed z moves by 1 with mu, and by std * eps with log_std.
def path_grad(mu, log_std, eps, df):
    std = np.exp(log_std)
    slope = df(mu + std * eps)
    return slope.mean(), (slope * std * eps).mean()


# why 3: Of B independent draws the variance of the mean is that of one over B; without replacement
#        (N - B) / (N - 1) of it are left.
def noise(grads, batch, replacement=True):
    n = len(grads)
    found = ((grads - grads.mean(axis=0)) ** 2).sum() / n / batch
    return found if replacement or n == 1 else found * (n - batch) / (n - 1)


# why 3: A root of at most relative times the norm is a square of at most the square of that.
def batch_for(grads, relative, replacement=True):
    limit = relative**2 * (grads.mean(axis=0) ** 2).sum()
    batch = 1
    while noise(grads, batch, replacement) > limit:
        batch += 1
    return batch
