"""The weights are multiplied by grad_o as they stand."""

_transposed = attention_backward


def attention_backward(grad_o, ctx):
    q, k, v, o, top, total, causal = ctx
    grad_q, grad_k, _ = _transposed(grad_o, ctx)
    return grad_q, grad_k, _weights(_scores(q, k, causal), top, total) @ grad_o
