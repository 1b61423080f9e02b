"""The exponentials are of the logits themselves."""


def _shares(logits, temperature):
    if temperature == 0:
        return np.ones_like(logits[:1])
    e = np.exp(logits / temperature)
    return e / e.sum()
