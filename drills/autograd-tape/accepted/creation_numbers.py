"""Style: operations are numbered as they are made, and backward takes the youngest first."""

import heapq
from itertools import count

import numpy as np

_numbers = count()


class Step:
    def __init__(self, inputs, pull, leaf=None):
        self.number = next(_numbers)
        self.inputs = inputs
        self.pull = pull
        self.leaf = leaf


class Tensor:
    def __init__(self, data, requires_grad=False):
        self.data = np.array(data, dtype=float)
        self.requires_grad = requires_grad
        self.grad = None
        self._step = Step((), None, self) if requires_grad else None

    def backward(self, grad=None):
        first = self._step
        waiting = {first.number: (first, np.ones(self.data.shape) if grad is None else grad)}
        heap = [-first.number]
        while heap:
            step, arrived = waiting.pop(-heapq.heappop(heap))
            if step.leaf is not None:
                old = step.leaf.grad
                step.leaf.grad = arrived + (0.0 if old is None else old)
                continue
            for before, shape, share in zip(step.inputs, *step.pull(arrived)):
                if before is None:
                    continue
                share = _shrunk(share, shape)
                if before.number in waiting:
                    share = share + waiting[before.number][1]
                else:
                    heapq.heappush(heap, -before.number)
                waiting[before.number] = before, share

    def __add__(self, other):
        return _binary(self, other, np.add, lambda g, a, b: (g, g), (False, False))

    __radd__ = __add__

    def __mul__(self, other):
        def pull(g, a, b):
            return (None if b is None else g * b), (None if a is None else g * a)

        return _binary(self, other, np.multiply, pull, (True, True))

    __rmul__ = __mul__

    def __sub__(self, other):
        return _binary(self, other, np.subtract, lambda g, a, b: (g, -g), (False, False))

    def __rsub__(self, other):
        return Tensor(other) - self

    def __neg__(self):
        return self * -1.0

    def __matmul__(self, other):
        def pull(g, a, b):
            return (None if b is None else g @ b.T), (None if a is None else a.T @ g)

        return _binary(self, other, np.matmul, pull, (True, True))

    def relu(self):
        open_ = np.where(self.data > 0, 1.0, 0.0)
        return _unary(self, self.data * open_, lambda g: g * open_)

    def sum(self):
        shape = self.data.shape
        return _unary(self, np.sum(self.data), lambda g: np.full(shape, g))


def _unary(a, data, pull):
    out = Tensor(data)
    if a.requires_grad:
        shape = a.data.shape
        out.requires_grad = True
        out._step = Step((a._step,), lambda g: ((shape,), (pull(g),)))
    return out


def _binary(a, b, function, pull, reads):
    a, b = (t if isinstance(t, Tensor) else Tensor(t) for t in (a, b))
    out = Tensor(function(a.data, b.data))
    if a.requires_grad or b.requires_grad:
        shapes = a.data.shape, b.data.shape
        # What is read for the gradient of a is b, and the other way round.
        kept_a = a.data if reads[0] and b.requires_grad else None
        kept_b = b.data if reads[1] and a.requires_grad else None
        out.requires_grad = True
        out._step = Step((a._step, b._step), lambda g: (shapes, pull(g, kept_a, kept_b)))
    return out


def _shrunk(g, shape):
    while np.ndim(g) > len(shape):
        g = g.sum(axis=0)
    for axis, length in enumerate(shape):
        if length == 1 and g.shape[axis] != 1:
            g = g.sum(axis=axis, keepdims=True)
    return np.array(g, dtype=float)
