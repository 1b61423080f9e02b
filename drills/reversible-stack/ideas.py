# %% f-misses-the-path-through-g
# killed_by: gradients
"""What reaches F in your backward is the gradient that came in for y1, without the one that comes
back through G. y1 is an output of the block and the input of G as well, so its gradient is the sum
of the two, and F adds to y1: it needs the sum. While the last weights of G are 0 nothing comes back
through G, and nothing shows. Finish with G, add, and only then go on to F."""

def _grads(grad_y1, grad_y2, x, y, hidden, a, b):
    through_g, *of_g = branch.back(grad_y2, y[0], hidden[1], a[1], b[1])
    through_f, *of_f = branch.back(grad_y1, x[1], hidden[0], a[0], b[0])
    grads = grad_y1 + through_g, grad_y2 + through_f
    return *grads, *(np.stack(pair) for pair in zip(of_f, of_g, strict=True))

# %% nothing-back-through-g
# killed_by: gradients
"""In your backward nothing comes back through G to the first stream: its gradient is the same before
a block as after it. G(y1) depends on y1, so what arrives at y2 goes back through G to y1, and from
there to x1 and through F to x2. Add what branch.back returns for G's input."""

def _grads(grad_y1, grad_y2, x, y, hidden, a, b):
    _, *of_g = branch.back(grad_y2, y[0], hidden[1], a[1], b[1])
    through_f, *of_f = branch.back(grad_y1, x[1], hidden[0], a[0], b[0])
    return grad_y1, grad_y2 + through_f, *(np.stack(p) for p in zip(of_f, of_g, strict=True))

# %% identity-path-missing
# killed_by: gradients
"""The gradients that leave a block in your backward are those of its branches alone. Each stream is
also handed on as it is, y1 = x1 + F(x2), so a gradient goes back unchanged besides what comes
through a branch. Add it; after a few blocks nothing is left without it."""

def _grads(grad_y1, grad_y2, x, y, hidden, a, b):
    through_g, *of_g = branch.back(grad_y2, y[0], hidden[1], a[1], b[1])
    grad_y1 = grad_y1 + through_g
    through_f, *of_f = branch.back(grad_y1, x[1], hidden[0], a[0], b[0])
    return grad_y1, through_f, *(np.stack(pair) for pair in zip(of_f, of_g, strict=True))

# %% identity-path-missing / both
def _grads(grad_y1, grad_y2, x, y, hidden, a, b):
    through_g, *of_g = branch.back(grad_y2, y[0], hidden[1], a[1], b[1])
    through_f, *of_f = branch.back(grad_y1, x[1], hidden[0], a[0], b[0])
    return through_g, through_f, *(np.stack(pair) for pair in zip(of_f, of_g, strict=True))

# %% blocks-undone-in-forward-order
# killed_by: inputs
"""You undo the first block first. What came last is undone first: the outputs that you hold are
those of the last block, and only it gives its inputs back. With one block nothing shows; with two
the streams are wrong. Go from the last block to the first."""

def _backwards(n):
    return range(n)

# %% f-undone-first
# killed_by: inputs
"""You take F off the first stream before the second stream is restored, so F is evaluated at y2,
where the block had it at x2. Take G(y1) off first, which gives x2, and then F(x2)."""

def _undone(y1, y2, a, b, grid):
    out, hidden_f = _branch(y2, a[0], b[0], grid)
    x1 = y1 - out
    out, hidden_g = _branch(x1, a[1], b[1], grid)
    return x1, y2 - out, (hidden_f, hidden_g)

# %% f-undone-first / g-at-y1
def _undone(y1, y2, a, b, grid):
    out_f, hidden_f = _branch(y2, a[0], b[0], grid)
    out_g, hidden_g = _branch(y1, a[1], b[1], grid)
    return y1 - out_f, y2 - out_g, (hidden_f, hidden_g)

# %% branches-added-once-more
# killed_by: inputs
"""What you call undoing adds the branches a second time. A block adds G(y1) to x2; it is undone by
y2 - G(y1), and then y1 - F(x2)."""

def _undone(y1, y2, a, b, grid):
    out, hidden_g = _branch(y1, a[1], b[1], grid)
    x2 = y2 + out
    out, hidden_f = _branch(x2, a[0], b[0], grid)
    return y1 + out, x2, (hidden_f, hidden_g)

# %% both-branches-from-the-inputs
# killed_by: outputs
"""Your forward evaluates G at x1, so that both branches of a block see its inputs. The contract has
G(y1). It is what makes a block reversible: whoever holds y1 can evaluate G and take it off; x1 is
not there yet."""

def _block(x1, x2, a, b, grid):
    return x1 + _branch(x2, a[0], b[0], grid)[0], x2 + _branch(x1, a[1], b[1], grid)[0]

# %% never-undone
# killed_by: gradients
"""Your backward takes the outputs of the last block as the streams of every block. For each block
the slopes of its branches and the gradients of its weights belong to that block's own streams: undo
the block, use what you get, and go on from there."""

def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    grads = grad_y1, grad_y2
    grad_a, grad_b = np.empty_like(a), np.empty_like(b)
    for i in _backwards(len(a)):
        x1, x2, hidden = _undone(y1, y2, a[i], b[i], grid)
        *grads, grad_a[i], grad_b[i] = _grads(*grads, (x1, x2), (y1, y2), hidden, a[i], b[i])
    return *grads, grad_a, grad_b

# %% f-at-the-output
# killed_by: gradients
"""Your backward takes the slope of F, and the gradients of its weights, at y2. F was evaluated at
x2, before G(y1) was added. Use the second stream as it was before the block."""

def _grads(grad_y1, grad_y2, x, y, hidden, a, b):
    through_g, *of_g = branch.back(grad_y2, y[0], hidden[1], a[1], b[1])
    grad_y1 = grad_y1 + through_g
    there = branch.run(y[1], a[0], b[0])[1]
    through_f, *of_f = branch.back(grad_y1, y[1], there, a[0], b[0])
    return grad_y1, grad_y2 + through_f, *(np.stack(p) for p in zip(of_f, of_g, strict=True))

# %% g-at-the-input
# killed_by: gradients
"""Your backward takes the slope of G, and the gradients of its weights, at x1. G was evaluated at
y1, after F(x2) had been added. Use the first stream as it was after the block."""

def _grads(grad_y1, grad_y2, x, y, hidden, a, b):
    there = branch.run(x[0], a[1], b[1])[1]
    through_g, *of_g = branch.back(grad_y2, x[0], there, a[1], b[1])
    grad_y1 = grad_y1 + through_g
    through_f, *of_f = branch.back(grad_y1, x[1], hidden[0], a[0], b[0])
    return grad_y1, grad_y2 + through_f, *(np.stack(p) for p in zip(of_f, of_g, strict=True))

# %% weights-in-backward-order
# killed_by: gradients
"""Your grad_a and grad_b have the gradients of the last block first, in the order in which backward
comes by. Block i of grad_a belongs to block i of a."""

right_backward = backward

def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    *grads, grad_a, grad_b = right_backward(grad_y1, grad_y2, y1, y2, a, b, grid)
    return *grads, grad_a[::-1].copy(), grad_b[::-1].copy()

# %% branches-exchanged
# killed_by: gradients
"""In your grad_a and grad_b the gradients of F stand where those of G belong, and the other way
round. [i, 0] is F, [i, 1] is G."""

right_backward = backward

def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    *grads, grad_a, grad_b = right_backward(grad_y1, grad_y2, y1, y2, a, b, grid)
    return *grads, grad_a[:, ::-1].copy(), grad_b[:, ::-1].copy()

# %% weights-of-one-block
# killed_by: gradients
"""Your gradients of the weights are added up over the blocks, the same for each. Every block has
weights of its own, and the gradient of each stands at its own index."""

right_backward = backward

def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    *grads, grad_a, grad_b = right_backward(grad_y1, grad_y2, y1, y2, a, b, grid)
    return *grads, *(np.zeros_like(g) + g.sum(axis=0) for g in (grad_a, grad_b))

# %% always-float64
# killed_by: single
"""Your results are float64 where the arrays that come in are float32, which doubles what a stream
takes. Make new arrays in the dtype of those that come in."""

right_forward, right_reconstruct, right_backward = forward, reconstruct, backward

def _wide(arrays):
    return [np.asarray(array, np.float64) for array in arrays]

def forward(x1, x2, a, b, grid=None):
    return right_forward(*_wide([x1, x2, a, b]), grid)

def reconstruct(y1, y2, a, b, grid=None):
    return right_reconstruct(*_wide([y1, y2, a, b]), grid)

def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    return right_backward(*_wide([grad_y1, grad_y2, y1, y2, a, b]), grid)

# %% always-float64 / gradients-of-weights
right_backward = backward

def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    *grads, grad_a, grad_b = right_backward(grad_y1, grad_y2, y1, y2, a, b, grid)
    return *grads, *_wide([grad_a, grad_b])

def _wide(arrays):
    return [np.asarray(array, np.float64) for array in arrays]

# %% inputs-off-the-grid
# killed_by: on-the-grid
"""Your forward rounds what the branches add, and not x1 and x2. A sum of a multiple of the grid and
any other number is rounded by the machine, so it cannot be undone to the last bit. Round both
streams before the first block."""

def forward(x1, x2, a, b, grid=None):
    for weights in zip(a, b, strict=True):
        x1, x2 = _block(x1, x2, *weights, grid)
    return x1, x2

# %% branches-off-the-grid
# killed_by: on-the-grid
"""You round x1 and x2, and add the branches as they come. After the first block the streams are off
the grid, sums are rounded by the machine, and nothing can be undone to the last bit. Round what
each branch adds."""

def _branch(v, a, b, grid):
    return branch.run(v, a, b)

# %% rounded-at-the-end
# killed_by: on-the-grid
"""You go through the blocks without a grid, and round what comes out of the last one. By then the
machine has rounded every sum in its own way. Round the streams before the first block, and what
each branch adds."""

right_forward, right_reconstruct, right_backward = forward, reconstruct, backward

def forward(x1, x2, a, b, grid=None):
    return tuple(_rounded(y, grid) for y in right_forward(x1, x2, a, b))

def reconstruct(y1, y2, a, b, grid=None):
    return tuple(_rounded(x, grid) for x in right_reconstruct(y1, y2, a, b))

def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    return right_backward(grad_y1, grad_y2, y1, y2, a, b)

# %% rounds-down
# killed_by: on-the-grid
"""You round to the multiple of the grid below. Everything can be undone, and every block adds half
a step of the grid too little in the mean, which 64 blocks add up to 32 steps. Round to the
nearest."""

def _rounded(v, grid):
    return v if grid is None else np.floor(v / grid) * grid

# %% rounds-towards-zero
# killed_by: on-the-grid
"""You cut off what is beyond a multiple of the grid, so that values come closer to 0. Everything can
be undone, and what a branch adds is too short by half a step in the mean, and 0 below one step.
Round to the nearest."""

def _rounded(v, grid):
    return v if grid is None else np.trunc(v / grid) * grid

# %% steps-per-one
# killed_by: on-the-grid
"""Your values are multiples of 1 / grid. grid is the distance between neighbors: divide by it, round,
and multiply by it."""

def _rounded(v, grid):
    return v if grid is None else np.round(v * grid) / grid

# %% undone-without-the-grid
# killed_by: exact
"""Your forward keeps to the grid, and what undoes a block takes off the branches unrounded. What is
taken off is not what was added, by up to half a step for each branch. Round it as forward does."""

def _undone(y1, y2, a, b, grid):
    out, hidden_g = branch.run(y1, a[1], b[1])
    x2 = y2 - out
    out, hidden_f = branch.run(x2, a[0], b[0])
    return y1 - out, x2, (hidden_f, hidden_g)

# %% backward-without-the-grid
# killed_by: grid-gradients
"""Your reconstruct keeps to the grid and your backward does not. So it undoes the blocks to other
streams than those that forward went through, half a step off for each branch, and takes its slopes
there. Undo with the grid in backward, too."""

right_backward = backward

def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    return right_backward(grad_y1, grad_y2, y1, y2, a, b)

# %% rounding-stops-gradients
# killed_by: grid-gradients
"""With a grid your backward lets nothing through what is rounded, since a step function is flat
between its steps. So no weight is ever trained. The contract has rounding count as the identity: it
moves nothing by more than half a step."""

right_backward = backward

def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    if grid is None:
        return right_backward(grad_y1, grad_y2, y1, y2, a, b)
    return grad_y1.copy(), grad_y2.copy(), np.zeros_like(a), np.zeros_like(b)

# %% gradients-on-the-grid
# killed_by: grid-gradients
"""Your backward puts the gradients on the grid as well. Nothing is undone there, so they need none,
and gradients smaller than half a step become 0. Round the streams and what is added to them, and
nothing else."""

right_backward = backward

def backward(grad_y1, grad_y2, y1, y2, a, b, grid=None):
    return tuple(_rounded(g, grid) for g in right_backward(grad_y1, grad_y2, y1, y2, a, b, grid))
