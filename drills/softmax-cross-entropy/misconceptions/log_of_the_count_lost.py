"""The maximum is added back before the difference is taken: next to 1e30 a logarithm is lost."""


def log_softmax(z):
    top = z.max(axis=-1, keepdims=True)
    return z - (top + np.log(np.exp(z - top).sum(axis=-1, keepdims=True)))
