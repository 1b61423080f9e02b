"""Logits are clipped before the softmax, and the logarithm of its probabilities is taken."""

LIMIT = 700.0


def log_softmax(z):
    e = np.exp(np.clip(z, -LIMIT, LIMIT))
    return np.log(e / e.sum(axis=-1, keepdims=True))
