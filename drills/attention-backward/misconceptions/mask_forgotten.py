"""The backward pass rebuilds the weights from what was kept, and hides no key."""

_hiding = attention_backward


def attention_backward(grad_o, ctx):
    return _hiding(grad_o, (*ctx[:-1], False))
