"""Style: the starter, with as few lines changed as possible."""

import numpy as np


class Tensor:
    """An array. Operations on Tensors give Tensors that know how they were made."""

    def __init__(self, data, requires_grad=False):
        self.data = np.asarray(data, dtype=np.float64)
        self.requires_grad = requires_grad
        self.grad = None
        self.made = Made(()) if requires_grad else None
        if requires_grad:
            self.made.leaf = self

    def backward(self, grad=None):
        if grad is None:
            grad = np.ones_like(self.data)
        missing, reached = {self.made: 0}, [self.made]
        for made in reached:
            for operand, _, _ in made.operands:
                if operand not in missing:
                    missing[operand] = 0
                    reached.append(operand)
                missing[operand] += 1
        grads, ready = {self.made: grad}, [self.made]
        for made in ready:  # grows on the way: each when all its users have been there
            g = grads.pop(made)
            for operand, shape, way in made.operands:
                share = _folded(way(g), shape)
                grads[operand] = grads[operand] + share if operand in grads else share
                missing[operand] -= 1
                if not missing[operand]:
                    ready.append(operand)
            if not made.operands:
                tensor = made.leaf
                tensor.grad = np.array(g) if tensor.grad is None else tensor.grad + g

    def __add__(self, other):
        other = _tensor(other)
        return _record(self.data + other.data, (self, lambda g: g), (other, lambda g: g))

    def __sub__(self, other):
        other = _tensor(other)
        return _record(self.data - other.data, (self, lambda g: g), (other, lambda g: -g))

    def __mul__(self, other):
        other = _tensor(other)
        mine, theirs = self.data, other.data
        return _record(
            mine * theirs,
            (self, lambda g: g * theirs),
            (other, lambda g: g * mine),
        )

    def __matmul__(self, other):
        mine, theirs = self.data, other.data
        return _record(
            mine @ theirs,
            (self, lambda g: g @ theirs.T),
            (other, lambda g: mine.T @ g),
        )

    def __neg__(self):
        return _record(-self.data, (self, lambda g: -g))

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other

    def __rsub__(self, other):
        return -self + other

    def relu(self):
        """Return max(x, 0) of every entry."""
        data = self.data
        return _record(np.maximum(data, 0), (self, lambda g: g * (data > 0)))

    def sum(self):
        """Return the sum of all entries."""
        shape = self.data.shape
        return _record(self.data.sum(), (self, lambda g: np.broadcast_to(g, shape)))


class Made:
    """How a result was made: what turns its gradient into the shares of the operands."""

    def __init__(self, operands):
        self.operands = operands


def _tensor(value):
    return value if isinstance(value, Tensor) else Tensor(value)


def _folded(share, shape):
    lead = share.ndim - len(shape)
    axes = [i for i in range(share.ndim) if i < lead or shape[i - lead] == 1]
    return share.sum(axis=tuple(axes)).reshape(shape)


def _record(data, *operands):
    """Return the result of an operation; it requires a gradient if one of its operands does."""
    result = Tensor(data)
    operands = [(t.made, t.data.shape, way) for t, way in operands if t.requires_grad]
    if operands:
        result.requires_grad = True
        result.made = Made(operands)
    return result
