"""The backward pass rebuilds the weights from scores that are not scaled."""


def attention_backward(grad_o, ctx):
    q, k, v, o, top, total, causal = ctx
    scores = _scores(q, k, causal) / _scale(q)
    weights = _weights(scores, *_normalizer(scores))
    grad_weights = grad_o @ v.swapaxes(1, 2)
    dot = (weights * grad_weights).sum(axis=2, keepdims=True)
    grad_scores = weights * (grad_weights - dot) * _scale(q)
    grad_v = weights.swapaxes(1, 2) @ grad_o
    return grad_scores @ k, grad_scores.swapaxes(1, 2) @ q, grad_v
