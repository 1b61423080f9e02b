"""The weights are kept for the backward pass, and the output with them."""


def attention_forward(q, k, v, causal=False):
    scores = _scores(q, k, causal)
    weights = _weights(scores, *_normalizer(scores))
    o = weights @ v
    return o, (q, k, v, o, weights)


def attention_backward(grad_o, ctx):
    q, k, v, o, weights = ctx
    grad_scores = _scale(q) * _softmax_backward(weights, grad_o @ v.swapaxes(1, 2), grad_o, o)
    grad_v = weights.swapaxes(1, 2) @ grad_o
    return grad_scores @ k, grad_scores.swapaxes(1, 2) @ q, grad_v
