# %% two-orders
# killed_by: pairs
"""Your batches puts rows in one order and labels in another, so that most rows meet the label of
another row. Nothing about shapes or class counts shows it. Draw one permutation and index both with
it."""

def batches(x, y, rng):
    x, y = rng.permutation(x), rng.permutation(y)
    every = np.arange(len(x))
    return [_cut(x, y, every[first : first + BATCH]) for first in range(0, len(x), BATCH)]

# %% another-rate
# killed_by: rate
"""Your step, without lr, does not bring the loss of some batch below 1.25 in five steps, on one
piece and without dropout. Your rate is far too large or too small; with the one that the script
came with that loss falls."""

right_step = step

def step(params, pieces, rng, drop=DROP, lr=6.0):
    return right_step(params, pieces, rng, drop, lr)

# %% another-rate / rate-far-too-small
right_step = step

def step(params, pieces, rng, drop=DROP, lr=0.00015):
    return right_step(params, pieces, rng, drop, lr)

# %% last-piece-only
# killed_by: update
"""Your step takes the gradient of the last piece alone, divided by all rows of the batch. Of pieces
of 20, 20, 20 and 4 rows that is the gradient of 4 rows at a sixteenth of its weight, and no rate
brings the other 60 rows back. What is set to zero for each piece should be set to zero for each
batch."""

def step(params, pieces, rng, drop=DROP, lr=RATE):
    losses, gradients = zip(*[_sums(params, x, y, rng, drop) for x, y in pieces], strict=True)
    rows = sum(len(y) for _, y in pieces)
    new = {name: p - lr * gradients[-1][name] / rows for name, p in params.items()}
    return new, sum(losses) / rows

# %% evaluates-with-dropout
# killed_by: evaluation
"""Your evaluate drops hidden units, so that two evaluations of one model differ and the accuracy is
that of a crippled network. It also draws from the generator that training goes on with."""

def evaluate(params, x, y, rng):
    hidden = _hidden(params, x)
    logits = _logits(params, hidden * _mask(hidden.shape, rng, DROP))
    return float(np.mean(logits.argmax(axis=1) == y))

# %% as-it-came
# killed_by: [pairs, update, evaluation]
"""What your batches, your step and your evaluate compute is what they computed in the script that
you were given, and each breaks a property. No learning rate makes up for that, and a loss that no
longer explodes does not show it."""

def batches(x, y, rng):
    x, y = rng.permutation(x), rng.permutation(y)
    every = np.arange(len(x))
    return [_cut(x, y, every[first : first + BATCH]) for first in range(0, len(x), BATCH)]

def step(params, pieces, rng, drop=DROP, lr=RATE):
    losses, gradients = zip(*[_sums(params, x, y, rng, drop) for x, y in pieces], strict=True)
    rows = sum(len(y) for _, y in pieces)
    new = {name: p - lr * gradients[-1][name] / rows for name, p in params.items()}
    return new, sum(losses) / rows

def evaluate(params, x, y, rng):
    hidden = _hidden(params, x)
    logits = _logits(params, hidden * _mask(hidden.shape, rng, DROP))
    return float(np.mean(logits.argmax(axis=1) == y))

def causes():
    return []

# %% one-epoch
# killed_by: trains
"""Your train ends after one pass over the rows. Each property holds, and ten steps are not enough.
"""

EPOCHS = 1

# %% trains-without-dropout
# killed_by: epochs
"""Your train has its steps drop nothing. It ends as accurate, with a loss of half the size, and is
not the training that was asked for."""

right_train, right_step = train, step

def train(seed):
    global step
    step = lambda params, pieces, rng: right_step(params, pieces, rng, 0.0)
    try:
        return right_train(seed)
    finally:
        step = right_step

# %% removes-dropout
# killed_by: noise
"""Your step drops no unit, whatever drop is. It trains, and the script was to train with dropout;
what had to go is the dropout in evaluation."""

def _mask(shape, rng, drop):
    return np.ones(shape)

# %% shuffles-nothing
# killed_by: kept
"""Your batches keeps the rows in the order in which they come. Every row has its label, and each
epoch has the same batches; the contract asks for an order that is drawn from rng."""

def batches(x, y, rng):
    every = np.arange(len(x))
    return [_cut(x, y, every[first : first + BATCH]) for first in range(0, len(x), BATCH)]

# %% averages-piece-means
# killed_by: update
"""Your step takes the mean of the pieces' mean gradients, so that a row of a piece of 4 weighs five
times as much as one of a piece of 20. Add up sums over rows, and divide once by the rows of the
batch."""

def step(params, pieces, rng, drop=DROP, lr=RATE):
    losses, means = [], []
    for x, y in pieces:
        loss, gradients = _sums(params, x, y, rng, drop)
        losses.append(loss / len(y))
        means.append({name: g / len(y) for name, g in gradients.items()})
    new = {
        name: p - lr * sum(mean[name] for mean in means) / len(pieces)
        for name, p in params.items()
    }
    return new, sum(losses) / len(pieces)

# %% whole-batch-at-once
# killed_by: kept
"""Your batches hands out a batch as one piece. Its step is right, and 64 rows do not fit into
memory: the contract asks for pieces of 20."""

def _cut(x, y, which):
    return [(x[which], y[which])]

# %% steps-by-piece
# killed_by: update
"""Your step moves the weights after every piece, so that one batch makes four steps, each on the
gradient of a few rows at the weights that the one before it left. The contract asks for one step
per batch."""

right_step = step

def step(params, pieces, rng, drop=DROP, lr=RATE):
    losses = []
    for piece in pieces:
        params, loss = right_step(params, [piece], rng, drop, lr)
        losses.append(loss * len(piece[1]))
    return params, sum(losses) / sum(len(y) for _, y in pieces)

# %% kept-not-scaled
# killed_by: noise
"""Your step drops units and leaves the others as they are, so that with drop = 0.6 the layer behind
them sees, in the mean, two fifths of what it will see in evaluation. Divide what is kept by 1 -
drop."""

def _mask(shape, rng, drop):
    return (rng.random(shape) >= drop).astype(float)
