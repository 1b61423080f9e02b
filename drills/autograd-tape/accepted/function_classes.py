"""A class per operation with forward and backward, a ctx that saves tensors, and a deep walk."""

import numpy as np


class Function:
    def __init__(self, *parents):
        self.parents = parents
        self.saved = ()

    @classmethod
    def apply(cls, *parents):
        ctx = cls(*parents)
        out = Tensor(ctx.forward(*(p.data for p in parents)))
        out.requires_grad = any(p.requires_grad for p in parents)
        out.ctx = ctx if out.requires_grad else None
        return out


class Add(Function):
    def forward(self, a, b):
        return a + b

    def backward(self, grad):
        return grad, grad


class Mul(Function):
    def forward(self, a, b):
        self.saved = a, b
        return a * b

    def backward(self, grad):
        a, b = self.saved
        return b * grad, a * grad


class Dot(Function):
    def forward(self, a, b):
        self.saved = a, b
        return a @ b

    def backward(self, grad):
        a, b = self.saved
        return grad @ b.T, a.T @ grad


class ReLU(Function):
    def forward(self, a):
        self.saved = (a,)
        return np.maximum(a, 0)

    def backward(self, grad):
        (a,) = self.saved
        return (grad * (a >= 0),)


class Sum(Function):
    def forward(self, a):
        self.saved = (a.shape,)
        return np.array(a.sum())

    def backward(self, grad):
        (shape,) = self.saved
        return (np.full(shape, grad),)


class Tensor:
    def __init__(self, data, requires_grad=False):
        self.data = np.asarray(data, dtype=np.float64)
        self.requires_grad, self.grad, self.ctx = requires_grad, None, None

    def deepwalk(self):
        nodes, visited = [], set()

        def walk(node):
            visited.add(node)
            if node.ctx:
                for parent in node.ctx.parents:
                    if parent not in visited:
                        walk(parent)
                nodes.append(node)

        walk(self)
        return nodes

    def backward(self, grad=None):
        self.grad = np.ones_like(self.data) if grad is None else grad
        for node in reversed(self.deepwalk()):
            for parent, g in zip(node.ctx.parents, node.ctx.backward(node.grad)):
                if parent.requires_grad:
                    parent.grad = g if parent.grad is None else parent.grad + g

    def __add__(self, other):
        return Add.apply(self, other)

    def __mul__(self, other):
        return Mul.apply(self, other)

    def __matmul__(self, other):
        return Dot.apply(self, other)

    def __neg__(self):
        return self * Tensor(-1.0 * np.ones_like(self.data))

    def __sub__(self, other):
        return self + -other

    def relu(self):
        return ReLU.apply(self)

    def sum(self):
        return Sum.apply(self)
