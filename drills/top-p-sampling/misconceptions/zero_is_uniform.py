"""At temperature 0 all tokens that top_k leaves have equal shares."""

_of_warm = _shares


def _shares(logits, temperature):
    if temperature == 0:
        return np.full(len(logits), 1 / max(len(logits), 1))
    return _of_warm(logits, temperature)
