"""The largest score is that of all keys, hidden ones too."""


def attention_forward(q, k, v, causal=False):
    scores = _scores(q, k, causal)
    top = _scores(q, k, False).max(axis=2, keepdims=True)
    total = np.exp(scores - top).sum(axis=2, keepdims=True)
    total = np.where(np.isfinite(scores).any(axis=2, keepdims=True), total, 1)
    o = _weights(scores, top, total) @ v
    return o, (q, k, v, o, top, total, causal)
