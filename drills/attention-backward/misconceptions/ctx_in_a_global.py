"""The backward pass uses what the latest forward pass left."""

_forward, _backward = attention_forward, attention_backward
_latest = {}


def attention_forward(q, k, v, causal=False):
    o, _latest["ctx"] = _forward(q, k, v, causal)
    return o, _latest["ctx"]


def attention_backward(grad_o, ctx):
    return _backward(grad_o, _latest.get("ctx", ctx))
