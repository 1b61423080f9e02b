"""One maximum for the whole batch is taken from every row."""


def log_softmax(z):
    shifted = z - z.max(initial=-np.inf)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
