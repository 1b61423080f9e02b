"""What top_k drops is set to minus infinity in the caller's logits."""

_right = probs


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    p = _right(logits, temperature, top_k, 1.0)
    logits[p == 0] = -np.inf
    return _right(logits, temperature, top_k, top_p)
