"""Temperature 0 is taken for 1."""

_right = probs


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    return _right(logits, temperature or 1.0, top_k, top_p)
