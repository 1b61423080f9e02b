"""Style: uses are counted first; an operation goes on when all of them have reported."""

from collections import defaultdict

import numpy as np


class Function:
    """What PyTorch calls a grad_fn; `next` holds those of the operands, None for constants."""

    def __init__(self, back, *operands):
        self.back = back
        self.next = [t.grad_fn for t in operands]
        self.shapes = [np.shape(t.data) for t in operands]


class Accumulate:
    def __init__(self, leaf):
        self.leaf, self.next = leaf, ()

    def add(self, gradient):
        if self.leaf.grad is None:
            self.leaf.grad = np.zeros_like(self.leaf.data)
        self.leaf.grad += gradient


class Tensor:
    def __init__(self, data, requires_grad=False):
        self.data = np.asarray(data, np.float64)
        self.requires_grad = requires_grad
        self.grad = None
        self.grad_fn = Accumulate(self) if requires_grad else None

    def backward(self, grad=None):
        users = defaultdict(int)
        reached, todo = {self.grad_fn}, [self.grad_fn]
        while todo:
            for function in todo.pop().next:
                if function is not None:
                    users[function] += 1
                    if function not in reached:
                        reached.add(function)
                        todo.append(function)
        buffers = {self.grad_fn: np.ones_like(self.data) if grad is None else grad}
        ready = [self.grad_fn]
        while ready:
            function = ready.pop()
            gradient = buffers.pop(function)
            if isinstance(function, Accumulate):
                function.add(gradient)
                continue
            for operand, shape, part in zip(function.next, function.shapes, function.back(gradient)):
                if operand is None:
                    continue
                part = reduce_to(part, shape)
                buffers[operand] = buffers[operand] + part if operand in buffers else part
                users[operand] -= 1
                if users[operand] == 0:
                    ready.append(operand)

    def __add__(self, other):
        other = constant(other)
        return made(self.data + other.data, lambda g: (g, g), self, other)

    def __sub__(self, other):
        other = constant(other)
        return made(self.data - other.data, lambda g: (g, -g), self, other)

    def __mul__(self, other):
        other = constant(other)
        a = self.data if other.requires_grad else 0
        b = other.data if self.requires_grad else 0
        return made(self.data * other.data, lambda g: (g * b, g * a), self, other)

    def __matmul__(self, other):
        a, b = self.data, other.data
        return made(a @ b, lambda g: (g @ b.T, a.T @ g), self, other)

    def __neg__(self):
        return made(-self.data, lambda g: (-g,), self)

    def __radd__(self, other):
        return constant(other) + self

    def __rsub__(self, other):
        return constant(other) - self

    def __rmul__(self, other):
        return constant(other) * self

    def relu(self):
        result = np.maximum(self.data, 0)
        return made(result, lambda g: (g * (result > 0),), self)

    def sum(self):
        shape = self.data.shape
        return made(self.data.sum(), lambda g: (np.broadcast_to(g, shape),), self)


def constant(value):
    return value if isinstance(value, Tensor) else Tensor(float(value))


def made(data, back, *operands):
    result = Tensor(data)
    if any(t.requires_grad for t in operands):
        result.requires_grad = True
        result.grad_fn = Function(back, *operands)
    return result


def reduce_to(gradient, shape):
    extra = gradient.ndim - len(shape)
    axes = [i for i in range(gradient.ndim) if i < extra or shape[i - extra] == 1]
    return gradient.sum(tuple(axes)).reshape(shape)
