"""A small autograd: float64 arrays that remember how they were computed."""

import numpy as np


class Tensor:
    """An array. Operations on Tensors give Tensors that know their operands."""

    def __init__(self, data, requires_grad=False):
        self.data = np.asarray(data, dtype=np.float64)
        self.requires_grad = requires_grad
        self.grad = None
        # Pairs: an operand, and what turns our gradient into its share.
        self.operands = ()

    def backward(self, grad=None):
        """Add to the .grad of each leaf what the sum of grad * self owes it."""
        if grad is None:
            grad = np.ones_like(self.data)
        grads, reached = {self: grad}, [self]
        for tensor in reached:  # grows on the way
            for operand, way in tensor.operands:
                if not operand.requires_grad:
                    continue
                share = way(grads[tensor])
                if operand in grads:
                    grads[operand] = grads[operand] + share
                else:
                    grads[operand] = share
                    reached.append(operand)
        for tensor in reached:
            if not tensor.operands:  # a leaf
                g = grads[tensor]
                tensor.grad = g if tensor.grad is None else tensor.grad + g

    def __add__(self, other):
        return _record(
            self.data + other.data, (self, lambda g: g), (other, lambda g: g)
        )

    def __sub__(self, other):
        return _record(
            self.data - other.data, (self, lambda g: g), (other, lambda g: -g)
        )

    def __mul__(self, other):
        return _record(
            self.data * other.data,
            (self, lambda g: g * other.data),
            (other, lambda g: g * self.data),
        )

    def __matmul__(self, other):
        return _record(
            self.data @ other.data,
            (self, lambda g: g @ other.data.T),
            (other, lambda g: self.data.T @ g),
        )

    def __neg__(self):
        return _record(-self.data, (self, lambda g: -g))

    def relu(self):
        """Return max(x, 0) of every element."""
        return _record(
            np.maximum(self.data, 0), (self, lambda g: g * (self.data > 0))
        )

    def sum(self):
        """Return the sum of all elements."""
        shape = self.data.shape
        return _record(
            self.data.sum(), (self, lambda g: np.broadcast_to(g, shape))
        )


def _record(data, *operands):
    """Return a result; it requires a gradient if one of its operands does."""
    result = Tensor(data, any(t.requires_grad for t, _ in operands))
    result.operands = operands
    return result
