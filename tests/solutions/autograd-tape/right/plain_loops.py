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
