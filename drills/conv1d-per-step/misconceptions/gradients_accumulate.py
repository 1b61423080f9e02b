"""Each backward pass on a cache adds its three gradients to those of the passes before it."""

right_forward, right_backward = conv1d_forward, conv1d_backward


def conv1d_forward(x, w, b, stride=1, padding=0):
    y, cache = right_forward(x, w, b, stride, padding)
    return y, {"forward": cache, "sums": None}


def conv1d_backward(grad_y, cache):
    grads = right_backward(grad_y, cache["forward"])
    if cache["sums"] is not None:
        grads = tuple(new + old for new, old in zip(grads, cache["sums"], strict=True))
    cache["sums"] = tuple(grad.copy() for grad in grads)
    return grads
