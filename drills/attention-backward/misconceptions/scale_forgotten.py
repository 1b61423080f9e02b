"""The backward pass has no 1 / sqrt(d)."""


def attention_backward(grad_o, ctx):
    q, k, v, o, top, total, causal = ctx
    weights = _weights(_scores(q, k, causal), top, total)
    grad_scores = _softmax_backward(weights, grad_o @ v.swapaxes(1, 2), grad_o, o)
    grad_v = weights.swapaxes(1, 2) @ grad_o
    return grad_scores @ k, grad_scores.swapaxes(1, 2) @ q, grad_v
