"""Probabilities are clipped from below before the logarithm to keep it finite."""

EPS = 1e-12


def log_softmax(z):
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return np.log(np.maximum(e / e.sum(axis=-1, keepdims=True), EPS))
