"""Run a few lines of code on Tensors, and fetch what they come to.

`code` is Python in which x and w are leaves that require a gradient, and c is a constant; those
that are None are not there. It assigns y, and z where two Tensors are differentiated.
"""

import sys

import numpy as np

LEAVES = ("x", "w", "c")


def forward(program, code, x, w, c):
    """Return all names that the code leaves behind, and the values of y."""
    names = {
        name: program.Tensor(data, requires_grad=name != "c")
        for name, data in zip(LEAVES, (x, w, c), strict=True)
        if data is not None
    }
    exec(code, {}, names)  # noqa: S102 the question's own lines
    return names, np.array(names["y"].data)


def backward(_program, names, grad):
    """Call backward of y, and return copies of the gradients of x, w and c."""
    return _differentiate(names, "y", grad)


def second(_program, names, grad):
    """Call backward of z, and return copies of the gradients of x, w and c."""
    return _differentiate(names, "z", grad)


def halve(_program, names):
    """Halve the gradient of x in place.

    Return whether it may be written to, and copies of the gradients of x and w afterwards.
    """
    grad = names["x"].grad
    writable = bool(grad.flags.writeable)
    if writable:
        grad *= 0.5
    return writable, *_gradients(names)[:2]


def own(_program, names, grad):
    """Call backward of y, and return the gradients of x and w themselves."""
    names["y"].backward(grad)
    return names["x"].grad, names["w"].grad


def counted(program, code, x):
    """Return how many function calls backward makes, and the gradient of x."""
    names, _ = forward(program, code, x, None, None)
    calls = 0

    def count(_frame, event, _what):
        nonlocal calls
        calls += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        names["y"].backward()
    finally:
        sys.setprofile(None)
    return calls, _gradients(names)[0]


def few(calls, operations):
    """Return whether there are at most 500 function calls per operation."""
    return calls <= 500 * operations


def deep(program, code, x):
    """Return whether backward got through without a RecursionError, and the gradient of x."""
    try:
        names, _ = forward(program, code, x, None, None)
        return True, backward(program, names, None)[0]
    except RecursionError:
        return False, None


def keep(program, code, x, constant):
    """Return x and y as Tensors, and copies of what the code calls p, q and r."""
    names = {"x": program.Tensor(x, requires_grad=not constant)}
    exec(code, {}, names)  # noqa: S102 the question's own lines
    p, q, r = (np.array(names[name].data) for name in "pqr")
    return (names["x"], names["y"]), p, q, r


def finish(_program, pair, constant):
    """Call backward of y unless x is a constant, and return the gradient of x."""
    x, y = pair
    if not constant:
        y.backward(np.ones_like(y.data))
    return _arrived(x)


def _differentiate(names, root, grad):
    if grad is None:
        names[root].backward()
    else:
        names[root].backward(grad)
    return _gradients(names)


def _gradients(names):
    return tuple(_arrived(names[name]) if name in names else None for name in LEAVES)


def _arrived(leaf):
    """Return a copy of the gradient of a leaf; zeros are None, that nothing has arrived."""
    if leaf.grad is None:
        return None
    grad = np.array(leaf.grad)
    return grad if grad.any() or grad.shape != np.shape(leaf.data) else None
