"""Only the gradient of the queries has the scale."""

_scaled = attention_backward


def attention_backward(grad_o, ctx):
    q = ctx[0]
    grad_q, grad_k, grad_v = _scaled(grad_o, ctx)
    return grad_q, grad_k / _scale(q), grad_v
