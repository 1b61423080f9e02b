"""The caller's logits are divided by the temperature."""

_right = probs


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    if temperature == 0:
        return _right(logits, 0, top_k, top_p)
    logits /= temperature
    return _right(logits, 1.0, top_k, top_p)
