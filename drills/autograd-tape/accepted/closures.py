"""Style: no class but Tensor; the graph is made of functions and lists, slots for the rest."""

import numpy as np


class Tensor:
    __slots__ = ("data", "grad", "trace")

    def __init__(self, data, requires_grad=False):
        self.data = np.asarray(data, dtype="float64")
        self.grad = None
        self.trace = None
        if requires_grad:
            self.trace = ([], self._receive)

    def _receive(self, arrived):
        self.grad = arrived.copy() if self.grad is None else self.grad + arrived
        return ()

    def backward(self, grad=None):
        arrived = {id(self.trace): np.ones_like(self.data) if grad is None else np.array(grad)}
        for trace in sorted_by_use(self.trace):
            operands, pull = trace
            for operand, share in zip(operands, pull(arrived[id(trace)])):
                key = id(operand)
                arrived[key] = arrived[key] + share if key in arrived else share

    def __add__(self, other):
        return plus(self, lift(other), 1.0)

    def __sub__(self, other):
        return plus(self, lift(other), -1.0)

    def __radd__(self, other):
        return plus(lift(other), self, 1.0)

    def __rsub__(self, other):
        return plus(lift(other), self, -1.0)

    def __neg__(self):
        return plus(Tensor(0.0), self, -1.0)

    def __mul__(self, other):
        return times(self, lift(other))

    def __rmul__(self, other):
        return times(lift(other), self)

    def __matmul__(self, other):
        a, b = self.data, other.data
        return traced(a @ b, (self, lambda g: g.dot(b.T)), (other, lambda g: a.T.dot(g)))

    def relu(self):
        closed = self.data <= 0
        return traced(
            np.where(closed, 0.0, self.data), (self, lambda g: np.where(closed, 0.0, g))
        )

    def sum(self):
        shape = self.data.shape
        return traced(np.sum(self.data), (self, lambda g: np.zeros(shape) + g))


def lift(value):
    return value if type(value) is Tensor else Tensor(value)


def plus(a, b, sign):
    back_a, back_b = folded(a.data.shape, 1.0), folded(b.data.shape, sign)
    return traced(a.data + sign * b.data, (a, back_a), (b, back_b))


def times(a, b):
    left = folded(a.data.shape, b.data) if a.trace else None
    right = folded(b.data.shape, a.data) if b.trace else None
    return traced(a.data * b.data, (a, left), (b, right))


def folded(shape, factor):
    def pull(g):
        g = np.asarray(g * factor)
        lead = g.ndim - len(shape)
        g = np.add.reduce(g, axis=tuple(range(lead)))
        ones = tuple(i for i, n in enumerate(shape) if n == 1)
        return np.add.reduce(g, axis=ones, keepdims=True)

    return pull


def traced(data, *pairs):
    result = Tensor(data)
    pairs = [(t.trace, pull) for t, pull in pairs if t.trace]
    if pairs:
        pulls = [pull for _, pull in pairs]
        result.trace = ([trace for trace, _ in pairs], lambda g: [pull(g) for pull in pulls])
    return result


def sorted_by_use(root):
    """Yield traces so that each comes after every one that it is an operand of."""
    left, stack = {}, [root]
    while stack:
        for operand in stack.pop()[0]:
            if id(operand) not in left:
                left[id(operand)] = 0
                stack.append(operand)
            left[id(operand)] += 1
    ready = [root]
    while ready:
        trace = ready.pop(0)
        yield trace
        for operand in trace[0]:
            left[id(operand)] -= 1
            if not left[id(operand)]:
                ready.append(operand)
