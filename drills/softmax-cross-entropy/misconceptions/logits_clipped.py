"""Logits are clipped to a range in which their exponentials are finite."""

LIMIT = 700.0


def log_softmax(z):
    z = np.clip(z, -LIMIT, LIMIT)
    return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
