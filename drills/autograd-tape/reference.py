"""A tape: operations remember how a gradient gets back to their operands.

Backward walks the graph once, every operation after all that used its result, and adds up what
arrives at each. The graph links operations, and not the Tensors that they gave: what no derivative
needs is let go. (PyTorch does the same: a tensor has a `grad_fn`, and that has `next_functions`.)

Sources: PyTorch notes, "Autograd mechanics"; Griewank and Walther, "Evaluating Derivatives", SIAM
2008.
"""

import numpy as np


class Node:
    """An operation that was recorded: how a gradient gets back to its operands."""

    __slots__ = ("ways",)

    def __init__(self, ways):
        """Take a triple for each operand that requires a gradient.

        Args:
            ways: its node, its shape, and a function from the gradient of the result to that of the
                operand, in which broadcasting is not undone yet.
        """
        self.ways = ways


class Tensor:
    """A float64 array that can be differentiated."""

    ways = ()  # a leaf is a node of its own, with no way to go on

    def __init__(self, data, requires_grad=False):
        """Make a leaf, or a constant.

        Args:
            data: a number or an array; it is not copied where it is a float64 array already.
            requires_grad: whether backward passes add to `.grad`, which is None before the first.
        """
        self.data = np.asarray(data, dtype=np.float64)
        self.requires_grad = requires_grad
        self.grad = None
        self.node = None

    def backward(self, grad=None):
        """Add to the `.grad` of every leaf the derivative of the sum of grad * self.data.

        Args:
            grad: shaped like self.data; may be left out where that has one entry, and is 1 then.
        """
        root = self.node or self
        grads = {root: np.ones_like(self.data) if grad is None else np.asarray(grad, float)}
        for node in _users_first(root):
            g = grads.pop(node)
            if not node.ways:
                node.grad = np.array(g if node.grad is None else node.grad + g)
            for operand, shape, way in node.ways:
                share = _unbroadcast(way(g), shape)
                grads[operand] = grads[operand] + share if operand in grads else share

    def __add__(self, other):
        other = _tensor(other)
        return _record(self.data + other.data, (self, _same), (other, _same))

    def __mul__(self, other):
        a, b = self.data, _tensor(other).data
        return _record(a * b, (self, lambda g: g * b), (_tensor(other), lambda g: g * a))

    def __matmul__(self, other):
        a, b = self.data, other.data
        return _record(a @ b, (self, lambda g: g @ b.T), (other, lambda g: a.T @ g))

    def __neg__(self):
        return _record(-self.data, (self, np.negative))

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    __radd__ = __add__
    __rmul__ = __mul__

    def relu(self):
        """Return max(x, 0) of every entry; its derivative at 0 is 0."""
        positive = self.data > 0
        return _record(self.data * positive, (self, lambda g: g * positive))

    def sum(self):
        """Return the sum of all entries, without axes."""
        shape = self.data.shape
        return _record(self.data.sum(), (self, lambda g: np.broadcast_to(g, shape)))


def _tensor(value):
    """Return a Tensor as it is, and a number as a constant."""
    return value if isinstance(value, Tensor) else Tensor(value)


def _same(grad):
    return grad


def _record(data, *operands):
    """Return the Tensor of a result; nothing is recorded of operands that need no gradient."""
    result = Tensor(data)
    ways = [(t.node or t, t.data.shape, way) for t, way in operands if t.requires_grad]
    if ways:
        result.requires_grad, result.node = True, Node(ways)
    return result


def _users_first(root):
    """Return all nodes that root leads to, each after every node that leads to it."""
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        node, finished = stack.pop()
        if finished:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((operand, False) for operand, _, _ in node.ways)
    return order[::-1]


def _unbroadcast(grad, shape):
    """Add up along every axis that broadcasting put in front of a shape, or stretched from 1."""
    grad = grad.sum(axis=tuple(range(grad.ndim - len(shape))))
    stretched = tuple(axis for axis, length in enumerate(shape) if length == 1)
    return grad.sum(axis=stretched, keepdims=True)
