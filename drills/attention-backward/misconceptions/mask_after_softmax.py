"""Hidden keys are taken out of the weights after the division."""


def _scores(q, k, causal):
    return q @ k.swapaxes(1, 2) * _scale(q)


def attention_forward(q, k, v, causal=False):
    scores = _scores(q, k, causal)
    top, total = _normalizer(scores)
    weights = _weights(scores, top, total)
    if causal:
        weights = weights * _seen(q.shape[1], k.shape[1])
    o = weights @ v
    return o, (q, k, v, o, top, total, causal)


def attention_backward(grad_o, ctx):
    q, k, v, o, top, total, causal = ctx
    weights = _weights(_scores(q, k, causal), top, total)
    seen = _seen(q.shape[1], k.shape[1]) if causal else np.ones(weights.shape[1:], bool)
    grad_weights = grad_o @ v.swapaxes(1, 2) * seen
    grad_scores = _scale(q) * _softmax_backward(weights, grad_weights, grad_o, o)
    grad_v = (weights * seen).swapaxes(1, 2) @ grad_o
    return grad_scores @ k, grad_scores.swapaxes(1, 2) @ q, grad_v
