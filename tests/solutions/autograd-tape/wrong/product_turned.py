"""Wrong: the gradient of the right matrix is transposed."""

import numpy as np


class Op:
    def __init__(self, edges):
        self.edges = edges


class Tensor:
    def __init__(self, data, requires_grad=False):
        self.data = np.asarray(data, dtype=np.float64)
        self.requires_grad = requires_grad
        self.grad = None
        self.op = Op([]) if requires_grad else None
        if requires_grad:
            self.op.leaf = self

    def backward(self, grad=None):
        start = np.ones_like(self.data) if grad is None else np.asarray(grad)
        arrived = {self.op: start}
        for op in in_order(self.op):
            g = arrived[op]
            if not op.edges:
                leaf = op.leaf
                leaf.grad = g.copy() if leaf.grad is None else leaf.grad + g
            for operand, shape, back in op.edges:
                share = unbroadcast(back(g), shape)
                if operand in arrived:
                    share = arrived[operand] + share
                arrived[operand] = share

    def __add__(self, other):
        other = wrap(other)
        return made(self.data + other.data, (self, lambda g: g), (other, lambda g: g))

    def __radd__(self, other):
        return wrap(other) + self

    def __sub__(self, other):
        other = wrap(other)
        return made(self.data - other.data, (self, lambda g: g), (other, lambda g: -g))

    def __rsub__(self, other):
        return wrap(other) - self

    def __mul__(self, other):
        other = wrap(other)
        a, b = self.data, other.data
        return made(a * b, (self, lambda g: g * b), (other, lambda g: g * a))

    def __rmul__(self, other):
        return wrap(other) * self

    def __matmul__(self, other):
        a, b = self.data, other.data
        return made(a @ b, (self, lambda g: g @ b.T), (other, lambda g: (a.T @ g).T))

    def __neg__(self):
        return made(-self.data, (self, lambda g: -g))

    def relu(self):
        mask = self.data > 0
        return made(np.where(mask, self.data, 0), (self, lambda g: np.where(mask, g, 0)))

    def sum(self):
        shape = self.data.shape
        return made(self.data.sum(), (self, lambda g: np.full(shape, g)))


def wrap(value):
    return value if isinstance(value, Tensor) else Tensor(value)


def made(data, *operands):
    result = Tensor(data)
    edges = [(t.op, t.data.shape, back) for t, back in operands if t.requires_grad]
    if edges:
        result.requires_grad, result.op = True, Op(edges)
    return result


def in_order(root):
    order, seen, stack = [], {root}, [(root, iter(root.edges))]
    while stack:
        op, edges = stack[-1]
        for operand, _, _ in edges:
            if operand not in seen:
                seen.add(operand)
                stack.append((operand, iter(operand.edges)))
                break
        else:
            order.append(op)
            stack.pop()
    return order[::-1]


def unbroadcast(g, shape):
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for axis, length in enumerate(shape):
        if length == 1:
            g = g.sum(axis=axis, keepdims=True)
    return g
