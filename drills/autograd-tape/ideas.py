# %% own-factor
# killed_by: chain
"""In a product each factor gets the gradient times itself. A change of a moves a * b by b times as
much: each factor gets the gradient times the other one."""

def __mul__(self, other):
    a, b = self.data, _tensor(other).data
    return _record(a * b, (self, lambda g: g * a), (_tensor(other), lambda g: g * b))

Tensor.__mul__ = Tensor.__rmul__ = __mul__

# %% untransposed
# killed_by: chain
"""For a @ b, the gradients are multiplied by b and a as they stand. Element (i, j) of the result
has read row i of a and column j of b: a gets g @ b.T, and b gets a.T @ g. Where the three lengths
differ, yours raises a ValueError."""

def __matmul__(self, other):
    a, b = self.data, other.data
    return _record(a @ b, (self, lambda g: g @ b), (other, lambda g: a @ g))

Tensor.__matmul__ = __matmul__

# %% relu-never-shut
# killed_by: chain
"""Your relu lets every gradient pass. Where its input is below 0 the result does not move with it,
so nothing may flow back there."""

def relu(self):
    return _record(np.maximum(self.data, 0), (self, _same))

Tensor.relu = relu

# %% goes-on-early
# killed_by: [skips, differences]
"""An operation passes its gradient on before all that used its result have given theirs. What
arrives later is lost to everything below. Usually it is visited when it is first reached. Put all
operations in an order in which each comes after everything that used its result, and go through
that once."""

def backward(self, grad=None):
    root = self.node or self
    grads = {root: np.ones_like(self.data) if grad is None else np.asarray(grad, float)}
    reached = [root]
    for node in reached:
        for operand, shape, way in node.ways:
            share = _unbroadcast(way(grads[node]), shape)
            if operand in grads:
                grads[operand] = grads[operand] + share
            else:
                grads[operand] = share
                reached.append(operand)
    for node in reached:
        if not node.ways:
            node.grad = np.array(grads[node]) if node.grad is None else node.grad + grads[node]

Tensor.backward = backward

# %% goes-on-early / depth-first
def backward(self, grad=None):
    root = self.node or self
    grads = {root: np.ones_like(self.data) if grad is None else np.asarray(grad, float)}

    def visit(node):
        for operand, shape, way in node.ways:
            share = _unbroadcast(way(grads[node]), shape)
            if operand in grads:
                grads[operand] = grads[operand] + share
            else:
                grads[operand] = share
                visit(operand)

    visit(root)
    for node, g in grads.items():
        if not node.ways:
            node.grad = np.array(g) if node.grad is None else node.grad + g

Tensor.backward = backward

# %% goes-on-early / last-operand-first
def backward(self, grad=None):
    root = self.node or self
    grads = {root: np.ones_like(self.data) if grad is None else np.asarray(grad, float)}
    stack = [root]
    while stack:
        node = stack.pop()
        for operand, shape, way in node.ways:
            share = _unbroadcast(way(grads[node]), shape)
            if operand in grads:
                grads[operand] = grads[operand] + share
            else:
                grads[operand] = share
                stack.append(operand)
    for node, g in grads.items():
        if not node.ways:
            node.grad = np.array(g) if node.grad is None else node.grad + g

Tensor.backward = backward

# %% leaves-early
# killed_by: leaves
"""A leaf's .grad takes what has arrived when the leaf is first reached, and contributions that come
later are lost. So are those to an operation that was passed already. Go through everything in an
order in which each comes after all that used its result."""

def backward(self, grad=None):
    root = self.node or self
    grads = {root: np.ones_like(self.data) if grad is None else np.asarray(grad, float)}
    reached = [root]
    for node in reached:
        g = grads[node]
        if not node.ways:
            node.grad = np.array(g) if node.grad is None else node.grad + g
        for operand, shape, way in node.ways:
            share = _unbroadcast(way(g), shape)
            if operand in grads:
                grads[operand] = grads[operand] + share
            else:
                grads[operand] = share
                reached.append(operand)

Tensor.backward = backward

# %% leaves-early / linked
def subtract(self, other):
    other = _tensor(other)
    return _record(self.data - other.data, (self, _same), (other, np.negative))

def _users_first(root):
    reached = [root]
    for node in reached:  # by the shortest distance from the root
        reached.extend(o for o in dict.fromkeys(o for o, _, _ in node.ways) if o not in reached)
    return reached

Tensor.__sub__ = subtract

# %% leaves-early / deep
def subtract(self, other):
    other = _tensor(other)
    return _record(self.data - other.data, (self, _same), (other, np.negative))

def _users_first(root):
    order, stack = [], [root]
    while stack:
        node = stack.pop()
        if node not in order:
            order.append(node)
            stack.extend(operand for operand, _, _ in node.ways)
    return order

Tensor.__sub__ = subtract

# %% one-use-only
# killed_by: leaves
"""Where gradients from several uses of a value meet, you keep one of them. A small change of the
value moves the result by way of every use, so its gradient is their sum."""

def backward(self, grad=None):
    root = self.node or self
    grads = {root: np.ones_like(self.data) if grad is None else np.asarray(grad, float)}
    for node in _users_first(root):
        g = grads.pop(node)
        if not node.ways:
            node.grad = np.array(g) if node.grad is None else node.grad + g
        for operand, shape, way in node.ways:
            share = _unbroadcast(way(g), shape)
            grads[operand] = share

Tensor.backward = backward

# %% one-use-only / first-use
def backward(self, grad=None):
    root = self.node or self
    grads = {root: np.ones_like(self.data) if grad is None else np.asarray(grad, float)}
    for node in _users_first(root):
        g = grads.pop(node)
        if not node.ways:
            node.grad = np.array(g) if node.grad is None else node.grad + g
        for operand, shape, way in node.ways:
            share = _unbroadcast(way(g), shape)
            grads.setdefault(operand, share)

Tensor.backward = backward

# %% mean-of-uses
# killed_by: leaves
"""Where gradients from several uses of a value meet, you take their mean. The chain rule gives
their sum: for x * x at 3 that is 3 + 3, not 3."""

def backward(self, grad=None):
    root = self.node or self
    shares = {root: [np.ones_like(self.data) if grad is None else np.asarray(grad, float)]}
    for node in _users_first(root):
        arrived = shares.pop(node)
        g = sum(arrived) / len(arrived)
        if not node.ways:
            node.grad = np.array(g) if node.grad is None else node.grad + g
        for operand, shape, way in node.ways:
            shares.setdefault(operand, []).append(_unbroadcast(way(g), shape))

Tensor.backward = backward

# %% passes-on-totals
# killed_by: skips
"""Whenever something arrives at an operation, all that has arrived there so far is passed on, so
that earlier contributions go down again with every later one. Pass the total on once, when it is
complete."""

def backward(self, grad=None):
    root = self.node or self
    grads = {root: np.ones_like(self.data) if grad is None else np.asarray(grad, float)}

    def visit(node):
        for operand, shape, way in node.ways:
            share = _unbroadcast(way(grads[node]), shape)
            grads[operand] = grads[operand] + share if operand in grads else share
            visit(operand)

    visit(root)
    for node, g in grads.items():
        if not node.ways:
            node.grad = np.array(g) if node.grad is None else node.grad + g

Tensor.backward = backward

# %% adds-in-place
# killed_by: leaves
"""A sum hands one array to both of its operands, and you add to it in place: what arrives at one of
them shows up at the other. Make a new array where two gradients are added, a = a + b."""

def backward(self, grad=None):
    root = self.node or self
    grads = {root: np.ones_like(self.data) if grad is None else np.array(grad, float)}
    for node in _users_first(root):
        g = grads.pop(node)
        if not node.ways:
            node.grad = np.array(g) if node.grad is None else node.grad + g
        for operand, shape, way in node.ways:
            share = way(g)
            if share.shape != shape:
                share = _unbroadcast(share, shape)
            if operand in grads:
                grads[operand] += share
            else:
                grads[operand] = share

Tensor.backward = backward

def total(self):
    shape = self.data.shape
    return _record(self.data.sum(), (self, lambda g: np.full(shape, g)))

Tensor.sum = total

# %% replaces-grad
# killed_by: adds
"""Each backward pass replaces what .grad held. It is to be added to: that is how gradients of
several losses or of several small batches come together. Whoever wants to begin anew sets .grad to
None."""

def backward(self, grad=None):
    root = self.node or self
    grads = {root: np.ones_like(self.data) if grad is None else np.asarray(grad, float)}
    for node in _users_first(root):
        g = grads.pop(node)
        if not node.ways:
            node.grad = np.array(g)
        for operand, shape, way in node.ways:
            share = _unbroadcast(way(g), shape)
            grads[operand] = grads[operand] + share if operand in grads else share

Tensor.backward = backward

# %% grad-ignored
# killed_by: weighted
"""Your backward pass begins with ones, whatever gradient it is given. With grad, the derivative is
that of the sum of grad * y."""

def backward(self, grad=None):
    root = self.node or self
    grads = {root: np.ones_like(self.data)}
    for node in _users_first(root):
        g = grads.pop(node)
        if not node.ways:
            node.grad = np.array(g) if node.grad is None else node.grad + g
        for operand, shape, way in node.ways:
            share = _unbroadcast(way(g), shape)
            grads[operand] = grads[operand] + share if operand in grads else share

Tensor.backward = backward

# %% no-unbroadcast
# killed_by: broadcast
"""What was broadcast gets a gradient in the shape of the result. Each element of the smaller
operand was used several times, and its gradient is the sum over these uses: add up over the axes
along which it was repeated."""

def _unbroadcast(grad, shape):
    return np.array(grad)

# %% leading-axes-only
# killed_by: broadcast
"""You add up over the axes that broadcasting put in front, and not over those of length 1 that it
stretched. Sum these too, with keepdims=True."""

def _unbroadcast(grad, shape):
    return grad.sum(axis=tuple(range(grad.ndim - len(shape))))

# %% mean-over-broadcast
# killed_by: broadcast
"""Along the axes that were broadcast you take the mean. Each copy was a use of the same number, and
over uses gradients are summed; a mean over the batch belongs in the loss, where somebody wants it.
"""

def _unbroadcast(grad, shape):
    total = grad.sum(axis=tuple(range(grad.ndim - len(shape))))
    stretched = tuple(axis for axis, length in enumerate(shape) if length == 1)
    total = total.sum(axis=stretched, keepdims=True)
    return total * (total.size / grad.size)

# %% one-of-the-copies
# killed_by: broadcast
"""Of the copies that broadcasting made, your gradient sees the first one only. Every copy was a use
of the same number: sum over them."""

def _unbroadcast(grad, shape):
    first = grad[(0,) * (grad.ndim - len(shape))]
    return np.array(first[tuple(slice(0, n) for n in shape)])

# %% subtraction-turned
# killed_by: numbers
"""A number minus a Tensor gives the Tensor minus the number. Python calls a.__rsub__(n) for n - a;
the order counts there."""

Tensor.__rsub__ = Tensor.__sub__

# %% constants-get-gradients
# killed_by: constants
"""Tensors made without requires_grad get a .grad. Inputs and targets are constants: follow those
operands only that require a gradient."""

def _record(data, *operands):
    result = Tensor(data, True)
    result.node = Node([(t.node or t, t.data.shape, way) for t, way in operands])
    return result

# %% open-at-zero
# killed_by: relu-at-0
"""Your relu lets the gradient pass where its input is exactly 0. The contract asks for a derivative
of 0 there, as PyTorch has it."""

def relu(self):
    positive = self.data >= 0
    return _record(self.data * positive, (self, lambda g: g * positive))

Tensor.relu = relu

# %% numbers-on-the-right-only
# killed_by: numbers
"""A number on the left of a Tensor raises a TypeError. Python asks the number first, which knows no
Tensors, and then calls __radd__, __rsub__ or __rmul__ of the Tensor: define them."""

del Tensor.__radd__, Tensor.__rsub__, Tensor.__rmul__

# %% floats-only
# killed_by: numbers
"""A whole number is not taken for a number: x * 3 raises an AttributeError, and x * 3.0 does not.
Let int pass as float does."""

def _tensor(value):
    return Tensor(value) if isinstance(value, float) else value

# %% every-path
# killed_by: work
"""For 14 doublings your backward pass makes more than 500 calls per doubling. Usually every
contribution is passed on by itself as soon as it arrives: the sums are right, but 14 doublings have
16,384 paths, and for 60 you would wait for years. Put the operations in an order, let everything
arrive, and pass on the total once."""

def backward(self, grad=None):
    grads = {}
    stack = [(self.node or self, np.ones_like(self.data) if grad is None else np.array(grad, float))]
    while stack:
        node, g = stack.pop()
        if not node.ways:
            grads[node] = grads[node] + g if node in grads else g
        stack += [(operand, _unbroadcast(way(g), shape)) for operand, shape, way in node.ways]
    for leaf, g in grads.items():
        leaf.grad = np.array(g) if leaf.grad is None else leaf.grad + g

Tensor.backward = backward

# %% every-path / recursive
def backward(self, grad=None):
    grads = {}

    def visit(node, g):
        if not node.ways:
            grads[node] = grads[node] + g if node in grads else g
        for operand, shape, way in node.ways:
            visit(operand, _unbroadcast(way(g), shape))

    visit(self.node or self, np.ones_like(self.data) if grad is None else np.array(grad, float))
    for leaf, g in grads.items():
        leaf.grad = np.array(g) if leaf.grad is None else leaf.grad + g

Tensor.backward = backward

# %% recursive-order
# killed_by: deep
"""A chain of 3,000 operations ends in a RecursionError: Python allows 1,000 calls inside each
other, if nobody has changed that. Keep a stack in a list of your own, or use the order in which
operations were created."""

def _users_first(root):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for operand, _, _ in node.ways:
                visit(operand)
            order.append(node)

    visit(root)
    return order[::-1]

# %% old-gradients
# killed_by: again
"""A second pass begins with what the first has left at the operations in between, so that it goes
down once more and counts twice. Usually each result has a .grad of its own that is added to. Only
those of leaves add up; the others are of one pass, and begin at 0."""

class Node:
    __slots__ = ("arrived", "ways")

    def __init__(self, ways):
        self.ways = ways
        self.arrived = None

def backward(self, grad=None):
    root = self.node or self
    grad = np.ones_like(self.data) if grad is None else np.asarray(grad, float)
    if isinstance(root, Node):
        root.arrived = grad
    for node in _users_first(root):
        for operand, shape, way in node.ways:
            share = _unbroadcast(way(node.arrived), shape)
            if isinstance(operand, Node):
                operand.arrived = share if operand.arrived is None else operand.arrived + share
            else:
                operand.grad = share if operand.grad is None else operand.grad + share

Tensor.backward = backward

# %% used-up
# killed_by: again
"""After a backward pass the operations that it went through are forgotten, and a second one gets no
further than to them. PyTorch does so with what products have saved, and a second pass raises there,
unless the first had retain_graph=True. The contract asks that backward can be called again."""

def backward(self, grad=None):
    root = self.node or self
    grads = {root: np.ones_like(self.data) if grad is None else np.asarray(grad, float)}
    for node in _users_first(root):
        g = grads.pop(node)
        if isinstance(node, Tensor):
            node.grad = np.array(g) if node.grad is None else node.grad + g
        for operand, shape, way in node.ways:
            share = _unbroadcast(way(g), shape)
            grads[operand] = grads[operand] + share if operand in grads else share
        if isinstance(node, Node):
            node.ways = ()

Tensor.backward = backward

# %% gradients-share-memory
# killed_by: [in-place, manners]
"""Two gradients are one array, or one is an array of the caller: whoever scales one in place
changes the other. A sum hands the same array to both of its operands. Give every leaf a copy of its
own."""

def backward(self, grad=None):
    root = self.node or self
    grads = {root: np.ones_like(self.data) if grad is None else np.asarray(grad, float)}
    for node in _users_first(root):
        g = grads.pop(node)
        if not node.ways:
            node.grad = g if node.grad is None else node.grad + g
        for operand, shape, way in node.ways:
            share = way(g)
            if share.shape != shape:
                share = _unbroadcast(share, shape)
            grads[operand] = grads[operand] + share if operand in grads else share

Tensor.backward = backward

# %% links-tensors
# killed_by: [sums, factors, totals]
"""Your graph keeps every array between the leaves and the result alive. Usually that is because
operations refer to their operands as Tensors. Link the operations to each other, and leave the
Tensors out."""

def _record(data, *operands):
    result = Tensor(data)
    ways = [(t.node or t, t.data.shape, way) for t, way in operands if t.requires_grad]
    if ways:
        result.requires_grad, result.node = True, Linked(ways)
        result.node.operands = [t for t, _ in operands if t.requires_grad]
    return result

class Linked(Node):
    __slots__ = ("operands",)

# %% links-tensors / links-all-tensors
def _record(data, *operands):
    result = Tensor(data)
    ways = [(t.node or t, t.data.shape, way) for t, way in operands if t.requires_grad]
    if ways:
        result.requires_grad, result.node = True, Linked(ways)
        result.node.operands = [t for t, _ in operands]
    else:
        result.operands = operands
    return result

class Linked(Node):
    __slots__ = ("operands",)

# %% records-constants
# killed_by: constant-graph
"""Results that need no gradient keep their operands alive, and these theirs. A running mean in a
training loop then grows with every step. Where no operand requires a gradient, remember nothing."""

def _record(data, *operands):
    result = Tensor(data)
    ways = [(t.node or t, t.data.shape, way) for t, way in operands if t.requires_grad]
    if ways:
        result.requires_grad, result.node = True, Node(ways)
    else:
        result.operands = operands
    return result

# %% keeps-both-factors
# killed_by: factors
"""A product with a number keeps the array that it multiplied. The derivative of 0.5 * p with
respect to p is 0.5; the array would be read for the derivative with respect to the number alone,
and nobody asks for that. Keep a factor where the other one requires a gradient."""

def __mul__(self, other):
    factors = self.data, _tensor(other).data
    return _record(
        factors[0] * factors[1],
        (self, lambda g: g * factors[1]),
        (_tensor(other), lambda g: g * factors[0]),
    )

Tensor.__mul__ = Tensor.__rmul__ = __mul__

# %% keeps-what-is-subtracted
# killed_by: sums
"""Differences and -a keep the arrays that they were made of. Their derivatives are 1 and -1,
whatever the values were."""

def negate(self):
    array = self.data
    return _record(-array, (self, lambda g: -g - 0 * array))

def subtract(self, other):
    other = _tensor(other)
    a, b = self.data, other.data
    return _record(a - b, (self, lambda g: g + 0 * a), (other, lambda g: -g - 0 * b))

Tensor.__neg__, Tensor.__sub__ = negate, subtract

# %% keeps-what-is-summed
# killed_by: totals
"""sum() keeps the array that it has added up. Its derivative is 1 everywhere, so the shape is all
that is needed."""

def total(self):
    array = self.data
    return _record(array.sum(), (self, lambda g: g * np.ones_like(array)))

Tensor.sum = total

# %% matmul-assigns
# killed_by: leaves
"""What comes back through a matrix product takes the place of what arrived before, and other operations
add. So a matrix that is used twice loses a part of its gradient. Usually the closure of __matmul__ has
= where those of + and * have +=. Contributions add up, whatever operation they come from."""

class Assigned(tuple):
    """A way back whose contribution replaces what has arrived."""

def __matmul__(self, other):
    a, b = self.data, other.data
    result = _record(a @ b, (self, lambda g: g @ b.T), (other, lambda g: a.T @ g))
    if result.node:
        result.node.ways = [Assigned(way) for way in result.node.ways]
    return result

def backward(self, grad=None):
    root = self.node or self
    grads = {root: np.ones_like(self.data) if grad is None else np.asarray(grad, float)}
    for node in _users_first(root):
        g = grads.pop(node)
        if not node.ways:
            node.grad = np.array(g if node.grad is None else node.grad + g)
        for edge in node.ways:
            operand, shape, way = edge
            share = _unbroadcast(way(g), shape)
            adds = operand in grads and not isinstance(edge, Assigned)
            grads[operand] = grads[operand] + share if adds else share

Tensor.__matmul__, Tensor.backward = __matmul__, backward

# %% matmul-assigns / last-operand-first
class Assigned(tuple):
    """A way back whose contribution replaces what has arrived."""

def __matmul__(self, other):
    a, b = self.data, other.data
    result = _record(a @ b, (self, lambda g: g @ b.T), (other, lambda g: a.T @ g))
    if result.node:
        result.node.ways = [Assigned(way) for way in result.node.ways]
    return result

def backward(self, grad=None):
    root = self.node or self
    grads = {root: np.ones_like(self.data) if grad is None else np.asarray(grad, float)}
    for node in _users_first(root):
        g = grads.pop(node)
        if not node.ways:
            node.grad = np.array(g if node.grad is None else node.grad + g)
        for edge in node.ways:
            operand, shape, way = edge
            share = _unbroadcast(way(g), shape)
            adds = operand in grads and not isinstance(edge, Assigned)
            grads[operand] = grads[operand] + share if adds else share

def _users_first(root):
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        node, finished = stack.pop()
        if finished:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((operand, False) for operand, _, _ in reversed(node.ways))
    return order[::-1]

Tensor.__matmul__, Tensor.backward = __matmul__, backward

# %% large-factors-in-float32
# killed_by: large
"""Factors of 1,024 elements and more are kept in float32, which halves their bytes, and gradients lose half
of their digits. Tensors are float64: keep fewer arrays, and those as they are."""

def __mul__(self, other):
    other = _tensor(other)
    a, b = (t.data.astype(np.float32) if t.data.size >= 1024 else t.data for t in (self, other))
    return _record(self.data * other.data, (self, lambda g: g * b), (other, lambda g: g * a))

Tensor.__mul__ = Tensor.__rmul__ = __mul__
