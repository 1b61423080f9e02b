"""Style: operations are plain tuples with a name, and a table says how each is turned around."""

import numpy as np

RULES = {
    "add": lambda g, kept: (g, g),
    "sub": lambda g, kept: (g, -g),
    "neg": lambda g, kept: (-g,),
    "mul": lambda g, kept: tuple(None if k is None else g * k for k in reversed(kept)),
    "matmul": lambda g, kept: (
        None if kept[1] is None else np.einsum("ik,jk->ij", g, kept[1]),
        None if kept[0] is None else np.einsum("ij,ik->jk", kept[0], g),
    ),
    "relu": lambda g, kept: (np.multiply(g, kept),),
    "sum": lambda g, kept: (np.multiply(np.ones(kept), g),),
}
NUMPY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "matmul": np.matmul}


class Entry:
    """A line of the tape: (name, what is kept, lines of the operands with their shapes)."""

    age = 0

    def __init__(self, name, kept, operands):
        Entry.age += 1
        self.age, self.name, self.kept, self.operands = Entry.age, name, kept, operands


class Tensor:
    def __init__(self, data, requires_grad=False):
        self.data = np.asarray(data, dtype=np.float64)
        self.grad = None
        self.entry = Entry("leaf", self, ()) if requires_grad else None

    def _two(self, name, other, turned=False):
        other = other if isinstance(other, Tensor) else Tensor(other)
        a, b = (other, self) if turned else (self, other)
        out = Tensor(NUMPY[name](a.data, b.data))
        kept = None
        if name in {"mul", "matmul"}:
            kept = (a.data if b.entry else None), (b.data if a.entry else None)
        return out._after(name, kept, a, b)

    def _after(self, name, kept, *operands):
        if any(t.entry for t in operands):
            self.entry = Entry(name, kept, [(t.entry, t.data.shape) for t in operands])
        return self

    def __add__(self, other):
        return self._two("add", other)

    def __radd__(self, other):
        return self._two("add", other, turned=True)

    def __sub__(self, other):
        return self._two("sub", other)

    def __rsub__(self, other):
        return self._two("sub", other, turned=True)

    def __mul__(self, other):
        return self._two("mul", other)

    def __rmul__(self, other):
        return self._two("mul", other, turned=True)

    def __matmul__(self, other):
        return self._two("matmul", other)

    def __neg__(self):
        return Tensor(-self.data)._after("neg", None, self)

    def relu(self):
        out = Tensor(np.clip(self.data, 0, None))
        return out._after("relu", np.sign(out.data), self)

    def sum(self):
        return Tensor(np.sum(self.data))._after("sum", self.data.shape, self)

    def backward(self, grad=None):
        start = np.ones(self.data.shape) if grad is None else np.array(grad, dtype=float)
        lines, todo = {self.entry.age: self.entry}, [self.entry]
        while todo:
            for operand, _ in todo.pop().operands:
                if operand is not None and operand.age not in lines:
                    lines[operand.age] = operand
                    todo.append(operand)
        sums = {age: [] for age in lines}
        sums[self.entry.age].append(start)
        for age in sorted(lines, reverse=True):
            line, g = lines[age], np.array(sum(sums.pop(age)))
            if line.name == "leaf":
                leaf = line.kept
                leaf.grad = g if leaf.grad is None else leaf.grad + g
                continue
            for (operand, shape), share in zip(line.operands, RULES[line.name](g, line.kept)):
                if operand is not None:
                    sums[operand.age].append(folded(share, shape))


def folded(share, shape):
    letters = "abcdefgh"[: share.ndim]
    short = letters[share.ndim - len(shape) :]
    keep = "".join(k for k, n in zip(short, shape) if n != 1)
    return np.einsum(f"{letters}->{keep}", share).reshape(shape)
