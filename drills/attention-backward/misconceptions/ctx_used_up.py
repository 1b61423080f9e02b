"""The backward pass multiplies the kept output by grad_o in place."""

_forward = attention_forward


def attention_forward(q, k, v, causal=False):
    o, (q, k, v, kept, top, total, causal) = _forward(q, k, v, causal)
    return o, (q, k, v, kept.copy(), top, total, causal)


def attention_backward(grad_o, ctx):
    q, k, v, o, top, total, causal = ctx
    weights = _weights(_scores(q, k, causal), top, total)
    grad_weights = grad_o @ v.swapaxes(1, 2)
    o *= grad_o
    grad_scores = weights * (grad_weights - o.sum(axis=2, keepdims=True)) * _scale(q)
    grad_v = weights.swapaxes(1, 2) @ grad_o
    return grad_scores @ k, grad_scores.swapaxes(1, 2) @ q, grad_v
