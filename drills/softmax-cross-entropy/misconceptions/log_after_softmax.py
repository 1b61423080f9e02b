"""The softmax is stable, but the logarithm is taken of probabilities that have rounded to 0."""


def log_softmax(z):
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return np.log(e / e.sum(axis=-1, keepdims=True))
