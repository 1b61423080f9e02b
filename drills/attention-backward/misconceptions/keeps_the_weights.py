"""The weights are kept for the backward pass."""


def attention_forward(q, k, v, causal=False):
    scores = _scores(q, k, causal)
    weights = _weights(scores, *_normalizer(scores))
    return weights @ v, (q, k, v, weights)


def attention_backward(grad_o, ctx):
    q, k, v, weights = ctx
    grad_weights = grad_o @ v.swapaxes(1, 2)
    dot = (weights * grad_weights).sum(axis=2, keepdims=True)
    grad_scores = weights * (grad_weights - dot) * _scale(q)
    grad_v = weights.swapaxes(1, 2) @ grad_o
    return grad_scores @ k, grad_scores.swapaxes(1, 2) @ q, grad_v
