"""The scores are kept for the backward pass, with what makes weights of them."""


def attention_forward(q, k, v, causal=False):
    scores = _scores(q, k, causal)
    top, total = _normalizer(scores)
    o = _weights(scores, top, total) @ v
    return o, (q, k, v, o, top, total, scores)


def attention_backward(grad_o, ctx):
    q, k, v, o, top, total, scores = ctx
    weights = _weights(scores, top, total)
    grad_scores = _scale(q) * _softmax_backward(weights, grad_o @ v.swapaxes(1, 2), grad_o, o)
    grad_v = weights.swapaxes(1, 2) @ grad_o
    return grad_scores @ k, grad_scores.swapaxes(1, 2) @ q, grad_v
