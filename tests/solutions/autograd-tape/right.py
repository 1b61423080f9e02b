# %% longdouble_inside
"""Style: gradients travel in extended precision, and become float64 at the leaves."""

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
        start = np.ones(self.data.shape) if grad is None else np.asarray(grad)
        start = start.astype(np.longdouble)
        arrived = {self.op: start}
        for op in in_order(self.op):
            g = arrived[op]
            if not op.edges:
                leaf = op.leaf
                g = g.astype(np.float64)
                leaf.grad = g if leaf.grad is None else leaf.grad + g
            for operand, shape, back in op.edges:
                share = unbroadcast(np.asarray(back(g), dtype=np.longdouble), shape)
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
        return made(a @ b, (self, lambda g: g @ b.T), (other, lambda g: a.T @ g))

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


# %% plain_loops
"""Style: plain Python loops over single entries wherever there is something to add up."""

import numpy as np


class Tensor:
    def __init__(self, data, requires_grad=False):
        self.data = np.array(data, dtype=np.float64)
        self.requires_grad = requires_grad
        self.grad = None
        self.record = {"back": [], "tensor": self} if requires_grad else None

    def backward(self, grad=None):
        users = {}
        todo = [self.record]
        while todo:
            record = todo.pop()
            for operand, _, _ in record["back"]:
                if id(operand) not in users:
                    users[id(operand)] = 0
                    todo.append(operand)
                users[id(operand)] += 1
        totals = {id(self.record): np.ones(self.data.shape) if grad is None else grad}
        todo = [self.record]
        while todo:
            record = todo.pop()
            total = totals.pop(id(record))
            if "tensor" in record:
                add_to_leaf(record["tensor"], total)
            for operand, shape, back in record["back"]:
                share = added_up(np.asarray(back(total)), shape)
                if id(operand) in totals:
                    share = totals[id(operand)] + share
                totals[id(operand)] = share
                users[id(operand)] -= 1
                if users[id(operand)] == 0:
                    todo.append(operand)

    def __add__(self, other):
        other = as_tensor(other)
        return result(self.data + other.data, [(self, same), (other, same)])

    def __sub__(self, other):
        other = as_tensor(other)
        return result(self.data - other.data, [(self, same), (other, turned)])

    def __mul__(self, other):
        other = as_tensor(other)
        return result(
            self.data * other.data, [(self, scaled(other.data)), (other, scaled(self.data))]
        )

    def __radd__(self, other):
        return as_tensor(other) + self

    def __rsub__(self, other):
        return as_tensor(other) - self

    def __rmul__(self, other):
        return as_tensor(other) * self

    def __neg__(self):
        return result(-self.data, [(self, turned)])

    def __matmul__(self, other):
        a, b = self.data, other.data
        return result(
            product(a, b),
            [(self, lambda g: product(g, b.T)), (other, lambda g: product(a.T, g))],
        )

    def relu(self):
        positive = self.data > 0
        data = np.zeros(self.data.shape)
        data[positive] = self.data[positive]
        return result(data, [(self, lambda g: g * positive)])

    def sum(self):
        total = 0.0
        for entry in self.data.flat:
            total += entry
        shape = self.data.shape
        return result(total, [(self, lambda g: np.zeros(shape) + g)])


def as_tensor(value):
    if isinstance(value, (int, float)):
        return Tensor(value)
    return value


def same(g):
    return g


def turned(g):
    return -g


def scaled(factor):
    def back(g):
        return g * factor

    return back


def result(data, operands):
    made = Tensor(data)
    back = []
    for tensor, function in operands:
        if tensor.requires_grad:
            back.append((tensor.record, tensor.data.shape, function))
    if back:
        made.requires_grad = True
        made.record = {"back": back}
    return made


def add_to_leaf(leaf, total):
    if leaf.grad is None:
        leaf.grad = np.zeros(leaf.data.shape)
    leaf.grad = leaf.grad + total


def product(a, b):
    out = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]
    return out


def added_up(share, shape):
    """Entry by entry: where in the operand did the copy come from?"""
    if share.shape == shape:
        return share
    total = np.zeros(shape)
    for index in np.ndindex(share.shape):
        source = index[len(index) - len(shape) :]
        total[tuple(0 if n == 1 else i for i, n in zip(source, shape))] += share[index]
    return total


# %% repaired_starter
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


# %% style_a
"""Style: that of borrows_the_callers_gradient and others, repaired."""

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
        return made(a @ b, (self, lambda g: g @ b.T), (other, lambda g: a.T @ g))

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
