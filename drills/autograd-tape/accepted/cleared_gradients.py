"""Style: operations carry a gradient of their own, which each pass clears before it begins."""

import numpy as np


class Tensor:
    def __init__(self, data, requires_grad=False):
        self.data = np.asarray(data, dtype=np.float64)
        self.requires_grad = requires_grad
        self.grad = None
        self.origin = Origin(self) if requires_grad else None

    def backward(self, grad=None):
        order = self.origin.in_order()
        for origin in order:
            origin.clear()
        self.origin.total += 1.0 if grad is None else grad
        for origin in reversed(order):
            origin.pass_on()

    def __add__(self, other):
        return _new(np.add, self, other, lambda g, a, b: g, lambda g, a, b: g)

    def __sub__(self, other):
        return _new(np.subtract, self, other, lambda g, a, b: g, lambda g, a, b: -g)

    def __mul__(self, other):
        return _new(np.multiply, self, other, lambda g, a, b: g * b, lambda g, a, b: g * a)

    def __matmul__(self, other):
        return _new(np.dot, self, other, lambda g, a, b: g @ b.T, lambda g, a, b: a.T @ g)

    def __neg__(self):
        return 0 - self

    def __radd__(self, other):
        return _tensor(other) + self

    def __rsub__(self, other):
        return _tensor(other) - self

    def __rmul__(self, other):
        return _tensor(other) * self

    def relu(self):
        positive = np.greater(self.data, 0)
        result = Tensor(np.where(positive, self.data, 0))
        return _link(result, (self, lambda g: np.where(positive, g, 0)))

    def sum(self):
        return _link(Tensor(self.data.sum()), (self, lambda g: g))


class Origin:
    """How a Tensor was made: (origin, function) for each operand that needs a gradient."""

    def __init__(self, tensor, links=()):
        self.shape = tensor.data.shape
        self.leaf = None if links else tensor
        self.links = links
        self.total = None

    def clear(self):
        self.total = np.zeros(self.shape)

    def pass_on(self):
        if self.leaf is not None:
            old = self.leaf.grad
            self.leaf.grad = self.total if old is None else old + self.total
        for origin, back in self.links:
            origin.take(back(self.total))
        self.total = None

    def take(self, share):
        share = np.asarray(share)
        if share.ndim == 0:  # of sum(): the same for all entries
            self.total += share if self.total.size != 1 else share.reshape(self.shape)
            return
        missing = share.ndim - len(self.shape)
        share = share.sum(axis=tuple(range(missing)))
        thin = tuple(i for i, n in enumerate(self.shape) if n == 1)
        self.total += share.sum(axis=thin, keepdims=True)

    def in_order(self):
        order, seen = [], {id(self)}
        stack = [(self, iter(self.links))]
        while stack:
            origin, links = stack[-1]
            for below, _ in links:
                if id(below) not in seen:
                    seen.add(id(below))
                    stack.append((below, iter(below.links)))
                    break
            else:
                order.append(origin)
                stack.pop()
        return order


def _tensor(value):
    return value if isinstance(value, Tensor) else Tensor(value)


def _link(result, *pairs):
    links = tuple((t.origin, back) for t, back in pairs if t.origin is not None)
    if links:
        result.requires_grad, result.origin = True, Origin(result, links)
        result.origin.leaf = None
    return result


def _new(function, a, b, back_a, back_b):
    a, b = _tensor(a), _tensor(b)
    result = Tensor(function(a.data, b.data))
    linear = function in (np.add, np.subtract)
    left = None if linear or not b.requires_grad else a.data
    right = None if linear or not a.requires_grad else b.data
    return _link(
        result, (a, lambda g: back_a(g, None, right)), (b, lambda g: back_b(g, left, None))
    )
