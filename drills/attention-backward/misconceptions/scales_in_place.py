"""The queries are scaled in place, once and for all."""


def attention_forward(q, k, v, causal=False):
    scale = _scale(q)
    q *= scale
    scores = q @ k.swapaxes(1, 2)
    if causal:
        scores = np.where(_seen(q.shape[1], k.shape[1]), scores, -np.inf)
    top, total = _normalizer(scores)
    o = _weights(scores, top, total) @ v
    return o, (q, k, v, o, top, total, causal)


def attention_backward(grad_o, ctx):
    q, k, v, o, top, total, causal = ctx
    scores = q @ k.swapaxes(1, 2)
    if causal:
        scores = np.where(_seen(q.shape[1], k.shape[1]), scores, -np.inf)
    weights = _weights(scores, top, total)
    grad_scores = _softmax_backward(weights, grad_o @ v.swapaxes(1, 2), grad_o, o)
    grad_v = weights.swapaxes(1, 2) @ grad_o
    return grad_scores @ k * _scale(q), grad_scores.swapaxes(1, 2) @ q, grad_v
