# %% cleared-gradients
"""Style: operations carry a gradient of their own, which each pass clears before it begins."""

import numpy as np

class Tensor:
    def __init__(self, data, requires_grad=False):
        self.data = np.asarray(data, dtype=np.float64)
        self.requires_grad = requires_grad
        self.grad = None
        self.origin = Origin(self) if requires_grad else None

    def backward(self, grad=None):
        order = self.origin.in_order()
        for origin in order:
            origin.clear()
        self.origin.total += 1.0 if grad is None else grad
        for origin in reversed(order):
            origin.pass_on()

    def __add__(self, other):
        return _new(np.add, self, other, lambda g, a, b: g, lambda g, a, b: g)

    def __sub__(self, other):
        return _new(np.subtract, self, other, lambda g, a, b: g, lambda g, a, b: -g)

    def __mul__(self, other):
        return _new(np.multiply, self, other, lambda g, a, b: g * b, lambda g, a, b: g * a)

    def __matmul__(self, other):
        return _new(np.dot, self, other, lambda g, a, b: g @ b.T, lambda g, a, b: a.T @ g)

    def __neg__(self):
        return 0 - self

    def __radd__(self, other):
        return _tensor(other) + self

    def __rsub__(self, other):
        return _tensor(other) - self

    def __rmul__(self, other):
        return _tensor(other) * self

    def relu(self):
        positive = np.greater(self.data, 0)
        result = Tensor(np.where(positive, self.data, 0))
        return _link(result, (self, lambda g: np.where(positive, g, 0)))

    def sum(self):
        return _link(Tensor(self.data.sum()), (self, lambda g: g))

class Origin:
    """How a Tensor was made: (origin, function) for each operand that needs a gradient."""

    def __init__(self, tensor, links=()):
        self.shape = tensor.data.shape
        self.leaf = None if links else tensor
        self.links = links
        self.total = None

    def clear(self):
        self.total = np.zeros(self.shape)

    def pass_on(self):
        if self.leaf is not None:
            old = self.leaf.grad
            self.leaf.grad = self.total if old is None else old + self.total
        for origin, back in self.links:
            origin.take(back(self.total))
        self.total = None

    def take(self, share):
        share = np.asarray(share)
        if share.ndim == 0:  # of sum(): the same for all entries
            self.total += share if self.total.size != 1 else share.reshape(self.shape)
            return
        missing = share.ndim - len(self.shape)
        share = share.sum(axis=tuple(range(missing)))
        thin = tuple(i for i, n in enumerate(self.shape) if n == 1)
        self.total += share.sum(axis=thin, keepdims=True)

    def in_order(self):
        order, seen = [], {id(self)}
        stack = [(self, iter(self.links))]
        while stack:
            origin, links = stack[-1]
            for below, _ in links:
                if id(below) not in seen:
                    seen.add(id(below))
                    stack.append((below, iter(below.links)))
                    break
            else:
                order.append(origin)
                stack.pop()
        return order

def _tensor(value):
    return value if isinstance(value, Tensor) else Tensor(value)

def _link(result, *pairs):
    links = tuple((t.origin, back) for t, back in pairs if t.origin is not None)
    if links:
        result.requires_grad, result.origin = True, Origin(result, links)
        result.origin.leaf = None
    return result

def _new(function, a, b, back_a, back_b):
    a, b = _tensor(a), _tensor(b)
    result = Tensor(function(a.data, b.data))
    linear = function in (np.add, np.subtract)
    left = None if linear or not b.requires_grad else a.data
    right = None if linear or not a.requires_grad else b.data
    return _link(
        result, (a, lambda g: back_a(g, None, right)), (b, lambda g: back_b(g, left, None))
    )

# %% closures
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

# %% closures-and-topo
# part: 1
"""Micrograd's way, for arrays: a _backward closure per result, a recursive topological sort.

Results have gradients too, which begin at 0 and are never cleared.
"""

import numpy as np

class Tensor:
    def __init__(self, data, requires_grad=False, _children=()):
        self.data = np.array(data, dtype=float)
        self.grad = np.zeros_like(self.data)
        self.requires_grad = requires_grad
        self._backward = lambda: None
        self._prev = set(_children)

    def __add__(self, other):
        other = other if isinstance(other, Tensor) else Tensor(other)
        out = Tensor(self.data + other.data, _children=(self, other))

        def _backward():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Tensor) else Tensor(other)
        out = Tensor(self.data * other.data, _children=(self, other))

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

    def __matmul__(self, other):
        out = Tensor(self.data @ other.data, _children=(self, other))

        def _backward():
            self.grad += out.grad @ other.data.T
            other.grad += self.data.T @ out.grad

        out._backward = _backward
        return out

    def relu(self):
        out = Tensor(np.where(self.data < 0, 0, self.data), _children=(self,))

        def _backward():
            self.grad += (out.data > 0) * out.grad

        out._backward = _backward
        return out

    def sum(self):
        out = Tensor(self.data.sum(), _children=(self,))

        def _backward():
            self.grad += np.ones_like(self.data) * out.grad

        out._backward = _backward
        return out

    def backward(self, grad=None):
        topo, visited = [], set()

        def build_topo(v):
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build_topo(child)
                topo.append(v)

        build_topo(self)
        self.grad = np.ones_like(self.data) if grad is None else grad
        for v in reversed(topo):
            v._backward()

    def __neg__(self):
        return self * Tensor(-np.ones_like(self.data))

    def __sub__(self, other):
        return self + (-other)

# %% counted-users
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

# %% creation-numbers
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

# %% deep-recursion
"""Style: the recursive order from the textbook, with Python's limit raised while it runs."""

import sys

import numpy as np

class Tensor:
    class Op:
        def __init__(self, edges):
            self.edges = edges

    def __init__(self, data, requires_grad=False):
        self.data = np.asarray(data, dtype=np.float64)
        self.requires_grad = requires_grad
        self.grad = None
        self.op = None

    def _made(self, data, *edges):
        out = Tensor(data)
        edges = [(t.op or t, back, t.data.shape) for t, back in edges if t.requires_grad]
        if edges:
            out.requires_grad, out.op = True, Tensor.Op(edges)
        return out

    @staticmethod
    def _wrap(value):
        return value if isinstance(value, Tensor) else Tensor(value)

    def __add__(self, other):
        other = self._wrap(other)
        return self._made(self.data + other.data, (self, lambda g: g), (other, lambda g: g))

    def __mul__(self, other):
        a, b = self.data, self._wrap(other).data
        return self._made(a * b, (self, lambda g: g * b), (self._wrap(other), lambda g: g * a))

    def __matmul__(self, other):
        a, b = self.data, other.data
        return self._made(a @ b, (self, lambda g: g @ b.T), (other, lambda g: a.T @ g))

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return (-self) + other

    __radd__, __rmul__ = __add__, __mul__

    def relu(self):
        gate = (self.data > 0).astype(float)
        return self._made(self.data * gate, (self, lambda g: g * gate))

    def sum(self):
        shape = self.data.shape
        return self._made(self.data.sum(), (self, lambda g: np.full(shape, g)))

    def backward(self, grad=None):
        order, seen = [], set()

        def visit(op):
            if id(op) in seen:
                return
            seen.add(id(op))
            for operand, _, _ in getattr(op, "edges", ()):
                visit(operand)
            order.append(op)

        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(1_000_000)
        try:
            visit(self.op or self)
        finally:
            sys.setrecursionlimit(limit)
        adjoint = {id(op): 0.0 for op in order}
        adjoint[id(self.op or self)] = np.ones_like(self.data) if grad is None else grad
        for op in reversed(order):
            g = adjoint.pop(id(op))
            if isinstance(op, Tensor):
                op.grad = g + (0.0 if op.grad is None else op.grad)
                continue
            for operand, back, shape in op.edges:
                adjoint[id(operand)] = adjoint[id(operand)] + summed(back(g), shape)

def summed(g, shape):
    """The transpose of broadcasting."""
    padded = (1,) * (g.ndim - len(shape)) + shape
    axes = tuple(i for i, (have, want) in enumerate(zip(g.shape, padded)) if have != want)
    return g.sum(axis=axes, keepdims=True).reshape(shape)

# %% dependencies
# part: 1
"""A Tensor depends on others; backward calls itself for each dependency, path by path."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

class Dependency(NamedTuple):
    tensor: "Tensor"
    grad_fn: Callable[[np.ndarray], np.ndarray]

class Tensor:
    def __init__(self, data, requires_grad=False, depends_on=()):
        self.data = np.asarray(data, dtype=np.float64)
        self.requires_grad = requires_grad
        self.depends_on = list(depends_on)
        self.grad = None
        if requires_grad:
            self.zero_grad()

    def zero_grad(self):
        self.grad = np.zeros_like(self.data)

    def backward(self, grad=None):
        assert self.requires_grad, "called backward on a tensor that requires no gradient"
        if grad is None:
            if self.data.size != 1:
                raise RuntimeError("grad must be given for a tensor that is no scalar")
            grad = np.ones_like(self.data)
        self.grad = self.grad + grad
        for dependency in self.depends_on:
            dependency.tensor.backward(dependency.grad_fn(grad))

    def __add__(self, other):
        return _result(self.data + other.data, (self, lambda g: g), (other, lambda g: g))

    def __sub__(self, other):
        return self + -other

    def __neg__(self):
        return _result(-self.data, (self, lambda g: -g))

    def __mul__(self, other):
        return _result(
            self.data * other.data,
            (self, lambda g: g * other.data),
            (other, lambda g: g * self.data),
        )

    def __matmul__(self, other):
        return _result(
            self.data @ other.data,
            (self, lambda g: g @ other.data.T),
            (other, lambda g: self.data.T @ g),
        )

    def relu(self):
        return _result(np.maximum(self.data, 0), (self, lambda g: g * (self.data > 0)))

    def sum(self):
        return _result(self.data.sum(), (self, lambda g: g * np.ones_like(self.data)))

def _result(data, *pairs):
    depends_on = [Dependency(t, fn) for t, fn in pairs if t.requires_grad]
    return Tensor(data, bool(depends_on), depends_on)

# %% function-classes
# part: 1
"""A class per operation with forward and backward, a ctx that saves tensors, and a deep walk."""

import numpy as np

class Function:
    def __init__(self, *parents):
        self.parents = parents
        self.saved = ()

    @classmethod
    def apply(cls, *parents):
        ctx = cls(*parents)
        out = Tensor(ctx.forward(*(p.data for p in parents)))
        out.requires_grad = any(p.requires_grad for p in parents)
        out.ctx = ctx if out.requires_grad else None
        return out

class Add(Function):
    def forward(self, a, b):
        return a + b

    def backward(self, grad):
        return grad, grad

class Mul(Function):
    def forward(self, a, b):
        self.saved = a, b
        return a * b

    def backward(self, grad):
        a, b = self.saved
        return b * grad, a * grad

class Dot(Function):
    def forward(self, a, b):
        self.saved = a, b
        return a @ b

    def backward(self, grad):
        a, b = self.saved
        return grad @ b.T, a.T @ grad

class ReLU(Function):
    def forward(self, a):
        self.saved = (a,)
        return np.maximum(a, 0)

    def backward(self, grad):
        (a,) = self.saved
        return (grad * (a >= 0),)

class Sum(Function):
    def forward(self, a):
        self.saved = (a.shape,)
        return np.array(a.sum())

    def backward(self, grad):
        (shape,) = self.saved
        return (np.full(shape, grad),)

class Tensor:
    def __init__(self, data, requires_grad=False):
        self.data = np.asarray(data, dtype=np.float64)
        self.requires_grad, self.grad, self.ctx = requires_grad, None, None

    def deepwalk(self):
        nodes, visited = [], set()

        def walk(node):
            visited.add(node)
            if node.ctx:
                for parent in node.ctx.parents:
                    if parent not in visited:
                        walk(parent)
                nodes.append(node)

        walk(self)
        return nodes

    def backward(self, grad=None):
        self.grad = np.ones_like(self.data) if grad is None else grad
        for node in reversed(self.deepwalk()):
            for parent, g in zip(node.ctx.parents, node.ctx.backward(node.grad)):
                if parent.requires_grad:
                    parent.grad = g if parent.grad is None else parent.grad + g

    def __add__(self, other):
        return Add.apply(self, other)

    def __mul__(self, other):
        return Mul.apply(self, other)

    def __matmul__(self, other):
        return Dot.apply(self, other)

    def __neg__(self):
        return self * Tensor(-1.0 * np.ones_like(self.data))

    def __sub__(self, other):
        return self + -other

    def relu(self):
        return ReLU.apply(self)

    def sum(self):
        return Sum.apply(self)

# %% table-of-rules
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
