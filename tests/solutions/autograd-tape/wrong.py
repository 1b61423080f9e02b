# %% starter_of_two_parts
"""Wrong: the starter with parts 1 and 2 mended, so that operands are kept as Tensors."""

import numpy as np


class Tensor:
    """An array. Operations on Tensors give Tensors that know their operands."""

    def __init__(self, data, requires_grad=False):
        self.data = np.asarray(data, dtype=np.float64)
        self.requires_grad = requires_grad
        self.grad = None
        self.operands = ()  # pairs: an operand, and what turns our gradient into its share

    def backward(self, grad=None):
        """Add to the .grad of every leaf what the sum of grad * self owes to it."""
        if grad is None:
            grad = np.ones_like(self.data)
        order, seen, stack = [], set(), [(self, False)]
        while stack:
            tensor, done = stack.pop()
            if done:
                order.append(tensor)
            elif tensor not in seen:
                seen.add(tensor)
                stack.append((tensor, True))
                stack += [(t, False) for t, _ in tensor.operands if t.requires_grad]
        grads = {self: grad}
        for tensor in reversed(order):
            g = grads[tensor]
            if not tensor.operands:  # a leaf
                tensor.grad = np.array(g) if tensor.grad is None else tensor.grad + g
            for operand, way in tensor.operands:
                if not operand.requires_grad:
                    continue
                share = way(g)
                extra = share.ndim - operand.data.ndim
                thin = [i for i, n in enumerate(operand.data.shape) if n == 1]
                share = share.sum(tuple(range(extra))).sum(tuple(thin), keepdims=True)
                grads[operand] = grads[operand] + share if operand in grads else share

    __radd__ = lambda self, other: self + other
    __rmul__ = lambda self, other: self * other
    __rsub__ = lambda self, other: -self + other

    def __add__(self, other):
        other = other if isinstance(other, Tensor) else Tensor(other)
        return _record(self.data + other.data, (self, lambda g: g), (other, lambda g: g))

    def __sub__(self, other):
        other = other if isinstance(other, Tensor) else Tensor(other)
        return _record(self.data - other.data, (self, lambda g: g), (other, lambda g: -g))

    def __mul__(self, other):
        other = other if isinstance(other, Tensor) else Tensor(other)
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
        """Return max(x, 0) of every entry."""
        return _record(np.maximum(self.data, 0), (self, lambda g: g * (self.data > 0)))

    def sum(self):
        """Return the sum of all entries."""
        return _record(self.data.sum(), (self, lambda g: np.broadcast_to(g, self.data.shape)))


def _record(data, *operands):
    """Return the result of an operation; it requires a gradient if one of its operands does."""
    result = Tensor(data, any(operand.requires_grad for operand, _ in operands))
    result.operands = operands
    return result
