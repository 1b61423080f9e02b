"""The backward pass uses what the latest forward pass left."""

_forward, _backward = attention_forward, attention_backward
_latest = []


def attention_forward(q, k, v, causal=False):
    o, ctx = _forward(q, k, v, causal)
    _latest[:] = [ctx]
    return o, ctx


def attention_backward(grad_o, ctx):
    return _backward(grad_o, _latest[0])
