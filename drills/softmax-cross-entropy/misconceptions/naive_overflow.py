"""Exponentials of the logits as they are, without taking the row maximum away first."""


def log_softmax(z):
    e = np.exp(z)
    return np.log(e / e.sum(axis=-1, keepdims=True))
