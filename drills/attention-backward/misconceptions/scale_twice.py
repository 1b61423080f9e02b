"""The scale is applied to the scores' gradient, and to both products once more."""

_scaled_once = attention_backward


def attention_backward(grad_o, ctx):
    q = ctx[0]
    grad_q, grad_k, grad_v = _scaled_once(grad_o, ctx)
    return grad_q * _scale(q), grad_k * _scale(q), grad_v
