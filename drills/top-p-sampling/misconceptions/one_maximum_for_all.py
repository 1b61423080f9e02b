"""The maximum of the whole batch is taken off every row."""

_right = probs
_tops = []


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    _tops[:] = [logits.max()]
    return _right(logits, temperature, top_k, top_p)


def _shares(logits, temperature):
    if temperature == 0:
        return np.ones_like(logits[:1])
    e = np.exp((logits - _tops[0]) / temperature)
    return e / e.sum()
