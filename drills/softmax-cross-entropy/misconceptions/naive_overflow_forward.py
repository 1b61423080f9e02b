"""Exponentials of the logits as they are in the loss; only the gradient has a stable softmax."""

_stable_log_softmax = log_softmax


def log_softmax(z):
    e = np.exp(z)
    return np.log(e / e.sum(axis=-1, keepdims=True))


def cross_entropy_grad(z, target):
    p = np.exp(_stable_log_softmax(z))
    p[np.arange(len(z)), target] -= 1
    return p / max(len(z), 1)
