"""Probabilities are clipped from below and from above before the logarithm."""

EPS = 1e-12


def log_softmax(z):
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return np.log(np.clip(e / e.sum(axis=-1, keepdims=True), EPS, 1 - EPS))
