"""The scores' gradient is multiplied by the queries as it stands."""

_transposed = attention_backward


def attention_backward(grad_o, ctx):
    q, k, v, o, top, total, causal = ctx
    weights = _weights(_scores(q, k, causal), top, total)
    grad_scores = _scale(q) * _softmax_backward(weights, grad_o @ v.swapaxes(1, 2), grad_o, o)
    grad_q, _, grad_v = _transposed(grad_o, ctx)
    return grad_q, grad_scores @ q, grad_v
