"""Fifty tokens stay where top_k is not given."""

_filtered, _drawn = probs, sample


def probs(logits, temperature=1.0, top_k=50, top_p=1.0):
    return _filtered(logits, temperature, top_k, top_p)


def sample(logits, u, temperature=1.0, top_k=50, top_p=1.0):
    return _drawn(logits, u, temperature, top_k, top_p)
