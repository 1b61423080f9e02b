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
        # why 3: What others refer to in the place of a result: its links, no
        #      data.
        self.node = None

    def backward(self, grad=None):
        """Add to the .grad of each leaf what the sum of grad * self owes it."""
        if grad is None:
            grad = np.ones_like(self.data)
        # why: An operation may pass on its gradient when everything that used
        #      its result has given its share, and not when it is first reached.
        grads, reached = {self: grad}, _users_first(self)
        for tensor in reached:
            for operand, way in tensor.operands:
                if not operand.requires_grad:
                    continue
                share = way(grads[tensor])
                if operand in grads:
                    grads[operand] = grads[operand] + share
                else:
                    # why: The order is complete before the walk begins.
                    grads[operand] = share
        for tensor in reached:
            if not tensor.operands:  # a leaf
                g = grads[tensor]
                # why 2: One array may have come to several leaves, or be the
                #      caller's, so that each leaf gets a copy of its own.
                old = 0.0 if tensor.grad is None else tensor.grad
                tensor.grad = np.array(old + g)

    def __add__(self, other):
        # why 2: A number is a constant Tensor.
        other = _tensor(other)
        return _record(
            self.data + other.data, (self, lambda g: g), (other, lambda g: g)
        )

    def __sub__(self, other):
        # why 2: A number is a constant Tensor.
        other = _tensor(other)
        return _record(
            self.data - other.data, (self, lambda g: g), (other, lambda g: -g)
        )

    def __mul__(self, other):
        # why 2: A number is a constant Tensor.
        other = _tensor(other)
        # why 3: Each function holds the other factor's array, and no Tensor.
        a, b = self.data, other.data
        return _record(
            a * b,
            (self, lambda g: g * b),
            (other, lambda g: g * a),
        )

    def __matmul__(self, other):
        # why 3: Each function holds the other factor's array, and no Tensor.
        a, b = self.data, other.data
        return _record(
            a @ b,
            (self, lambda g: g @ b.T),
            (other, lambda g: a.T @ g),
        )

    def __neg__(self):
        return _record(-self.data, (self, lambda g: -g))

    # why 2: With a number on the left Python calls these; in n - a the order
    #      counts.
    def __rsub__(self, other):
        return _tensor(other) - self

    __radd__, __rmul__ = __add__, __mul__

    def relu(self):
        """Return max(x, 0) of every element."""
        # why 3: The function holds where the input was positive, and not the
        #      Tensor.
        positive = self.data > 0
        return _record(np.maximum(self.data, 0), (self, lambda g: g * positive))

    def sum(self):
        """Return the sum of all elements."""
        shape = self.data.shape
        return _record(
            self.data.sum(), (self, lambda g: np.broadcast_to(g, shape))
        )


def _record(data, *operands):
    """Return a result; it requires a gradient if one of its operands does."""
    result = Tensor(data, any(t.requires_grad for t, _ in operands))
    # why 2: What was broadcast was used several times: every share is summed
    #      over the axes that were put in front and over those of length 1.
    operands = [(t, _shaped(way, t.data.shape)) for t, way in operands]
    # why 3: Results link to nodes without data, so that no partial result stays
    #      alive; operands that need no gradient are not linked to at all.
    operands = [(t, way) for t, way in operands if t.requires_grad]
    result.operands = [(t.node or t, way) for t, way in operands]
    result.node = Node(result.operands) if result.operands else None
    return result


# why: Depth-first: a Tensor is written down when all its operands are, and the
#      reverse has each of them after all that used it. The stack is a list, so
#      that long chains do not meet Python's limit on recursion.
def _users_first(root):
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        tensor, finished = stack.pop()
        if finished:
            order.append(tensor)
        elif tensor not in seen:
            seen.add(tensor)
            stack.append((tensor, True))
            needed = [t for t, _ in tensor.operands if t.requires_grad]
            stack.extend((operand, False) for operand in needed)
    return order[::-1]


# why 2: A number becomes a constant Tensor.
def _tensor(value):
    return value if isinstance(value, Tensor) else Tensor(value)


# why 2: The sum over what broadcasting has repeated.
def _shaped(way, shape):
    def shaped(g):
        g = way(g)
        g = g.sum(axis=tuple(range(g.ndim - len(shape))))
        ones = tuple(axis for axis, length in enumerate(shape) if length == 1)
        return g.sum(axis=ones, keepdims=True)

    return shaped


# why 3: The links of a result, without its data.
class Node:
    requires_grad = True

    def __init__(self, operands):
        self.operands = operands
