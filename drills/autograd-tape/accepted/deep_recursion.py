"""Style: the recursive order from the textbook, with Python's limit raised while it runs."""

import sys

import numpy as np


class Tensor:
    class Op:
        def __init__(self, edges):
            self.edges = edges

    def __init__(self, data, requires_grad=False):
        self.data = np.asarray(data, dtype=np.float64)
        self.requires_grad = requires_grad
        self.grad = None
        self.op = None

    def _made(self, data, *edges):
        out = Tensor(data)
        edges = [(t.op or t, back, t.data.shape) for t, back in edges if t.requires_grad]
        if edges:
            out.requires_grad, out.op = True, Tensor.Op(edges)
        return out

    @staticmethod
    def _wrap(value):
        return value if isinstance(value, Tensor) else Tensor(value)

    def __add__(self, other):
        other = self._wrap(other)
        return self._made(self.data + other.data, (self, lambda g: g), (other, lambda g: g))

    def __mul__(self, other):
        a, b = self.data, self._wrap(other).data
        return self._made(a * b, (self, lambda g: g * b), (self._wrap(other), lambda g: g * a))

    def __matmul__(self, other):
        a, b = self.data, other.data
        return self._made(a @ b, (self, lambda g: g @ b.T), (other, lambda g: a.T @ g))

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return (-self) + other

    __radd__, __rmul__ = __add__, __mul__

    def relu(self):
        gate = (self.data > 0).astype(float)
        return self._made(self.data * gate, (self, lambda g: g * gate))

    def sum(self):
        shape = self.data.shape
        return self._made(self.data.sum(), (self, lambda g: np.full(shape, g)))

    def backward(self, grad=None):
        order, seen = [], set()

        def visit(op):
            if id(op) in seen:
                return
            seen.add(id(op))
            for operand, _, _ in getattr(op, "edges", ()):
                visit(operand)
            order.append(op)

        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(1_000_000)
        try:
            visit(self.op or self)
        finally:
            sys.setrecursionlimit(limit)
        adjoint = {id(op): 0.0 for op in order}
        adjoint[id(self.op or self)] = np.ones_like(self.data) if grad is None else grad
        for op in reversed(order):
            g = adjoint.pop(id(op))
            if isinstance(op, Tensor):
                op.grad = g + (0.0 if op.grad is None else op.grad)
                continue
            for operand, back, shape in op.edges:
                adjoint[id(operand)] = adjoint[id(operand)] + summed(back(g), shape)


def summed(g, shape):
    """The transpose of broadcasting."""
    padded = (1,) * (g.ndim - len(shape)) + shape
    axes = tuple(i for i, (have, want) in enumerate(zip(g.shape, padded)) if have != want)
    return g.sum(axis=axes, keepdims=True).reshape(shape)
