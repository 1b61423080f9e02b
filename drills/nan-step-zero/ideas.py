# %% as-it-came
# killed_by: [large, blank, unread]
"""Your loss_fn computes what it computed in the script that you were given, and more than one thing
is wrong with it. Other weights to start with change what the first batch shows of that, and repair
nothing."""

def init_params(d=32, h=64, c=10, seed=0):
    rng = torch.Generator().manual_seed(seed)
    w1 = torch.randn(d, h, generator=rng) * d**-0.5
    w2 = torch.randn(h, c, generator=rng) * h**0.5
    return {"w1": w1.requires_grad_(), "w2": w2.requires_grad_()}

def loss_fn(params, x, y):
    z = x @ params["w1"]
    deviation = z - z.mean(dim=1, keepdim=True)
    spread = deviation.square().mean(dim=1, keepdim=True).sqrt()
    hidden = torch.relu(deviation / spread)
    weights = torch.exp(hidden @ params["w2"])
    p = weights / weights.sum(dim=1, keepdim=True)
    labeled = (y >= 0).to(p.dtype)
    nll = -torch.log(p[torch.arange(len(y)), y])
    return (nll * labeled).sum() / labeled.sum()

def causes():
    return []

# %% as-it-came / only-the-start
def loss_fn(params, x, y):
    z = x @ params["w1"]
    deviation = z - z.mean(dim=1, keepdim=True)
    spread = deviation.square().mean(dim=1, keepdim=True).sqrt()
    hidden = torch.relu(deviation / spread)
    weights = torch.exp(hidden @ params["w2"])
    p = weights / weights.sum(dim=1, keepdim=True)
    labeled = (y >= 0).to(p.dtype)
    nll = -torch.log(p[torch.arange(len(y)), y])
    return (nll * labeled).sum() / labeled.sum()

def causes():
    return ["init"]

# %% large-start
# killed_by: start
"""Your second layer starts with weights of the size of the root of h, as in the script: a sum over
h units is then h times as large as it would be if you divided by that root. The first loss is tens
above log(c), and a stable softmax only makes a number of it. Divide by the root of the fan-in."""

def init_params(d=32, h=64, c=10, seed=0):
    rng = torch.Generator().manual_seed(seed)
    w1 = torch.randn(d, h, generator=rng) * d**-0.5
    w2 = torch.randn(h, c, generator=rng) * h**0.5
    return {"w1": w1.requires_grad_(), "w2": w2.requires_grad_()}

# %% fan-in-of-the-other
# killed_by: start
"""Your second layer is divided by the root of d, the width of x. Its fan-in is h: each logit is a
sum over h hidden units."""

def init_params(d=32, h=64, c=10, seed=0):
    rng = torch.Generator().manual_seed(seed)
    w2 = torch.randn(h, c, generator=rng) / math.sqrt(d)
    return {"w1": _drawn(d, h, rng), "w2": w2.requires_grad_()}

# %% not-leaves
# killed_by: weights
"""Your weights are results of an operation and not leaves: they were multiplied after requires_grad
was set, so .grad stays None and an optimizer refuses them. Scale first, then call requires_grad_().
"""

def _drawn(rows, columns, rng):
    return torch.randn(rows, columns, generator=rng).requires_grad_() / math.sqrt(rows)

# %% all-zero
# killed_by: weights
"""Your first loss is log(c) to the last digit, and w1 is the same whatever the seed, as it is where
all weights are 0. Zeros stay zeros for good: every hidden unit is 0, and so are the gradients of
both weights. Weights have to be small and different."""

def init_params(d=32, h=64, c=10, seed=0):
    return {
        "w1": torch.zeros(d, h).requires_grad_(),
        "w2": torch.zeros(h, c).requires_grad_(),
    }

# %% unbiased-deviation
# killed_by: [large, blank]
"""You divide by the standard deviation with h - 1 in it, which is the default of torch.std and
torch.var. The formula has the mean of the squares, as LayerNorm does: correction=0."""

def _standardized(z):
    deviation = z - z.mean(dim=1, keepdim=True)
    return deviation / torch.sqrt(z.var(dim=1, keepdim=True) + EPS)

# %% exp-then-log
# killed_by: large
"""Your loss takes exp of the logits as they are, and a logarithm afterwards. In float32 exp
overflows above 88.7, and from there on the loss is inf or NaN. log_softmax does both in one, with
the maximum subtracted, and never forms a probability."""

def _losses(logits, y):
    weights = torch.exp(logits)
    p = weights / weights.sum(dim=1, keepdim=True)
    return -torch.log(p[torch.arange(len(y)), y])

# %% exp-then-log / log-of-a-sum
def _losses(logits, y):
    return torch.log(torch.exp(logits).sum(dim=1)) - logits[torch.arange(len(y)), y]

# %% shifted-then-log
# killed_by: large
"""Your softmax does not overflow, but it is a probability before its logarithm is taken. Where a
label is 104 or more below the largest logit, that is 0 in float32, and the loss inf. Subtract the
logarithm of the sum from the logit; then nothing is lost."""

def _losses(logits, y):
    return -torch.log(torch.softmax(logits, dim=1)[torch.arange(len(y)), y])

# %% capped-log
# killed_by: large
# parameters: {FLOOR: [1e-12, 1e-10, 1e-09, 1e-08]}
"""In your loss no row costs more than -log({FLOOR}), because its probability is kept above 0 before
the logarithm is taken. A row that is wrong by more than that hardly gets a gradient. Take
log_softmax of the logits; nothing has to be added."""

FLOOR = 1e-8

def _losses(logits, y):
    return -torch.log(torch.softmax(logits, dim=1)[torch.arange(len(y)), y] + FLOOR)

# %% clamped-logits
# killed_by: large
# parameters: {BOUND: [30.0, 50.0, 60.0, 80.0, 85.0, 88.0, 100.0]}
"""Your logits are cut off at {BOUND} to either side. The loss is then that of other logits, and
those that are cut off get no gradient, which are the ones that need it most. log_softmax takes them
as they are."""

BOUND = 80.0

def _losses(logits, y):
    log_p = torch.log_softmax(logits.clamp(-BOUND, BOUND), dim=1)
    return -log_p[torch.arange(len(y)), y]

# %% softmax-in-double
# killed_by: large
"""Your exponentials are float64, which moves the bound from 88.7 to 709.7 and does not remove it.
Subtract the maximum, or take log_softmax, and float32 is enough."""

def _losses(logits, y):
    weights = torch.exp(logits.double())
    p = weights / weights.sum(dim=1, keepdim=True)
    return -torch.log(p[torch.arange(len(y)), y]).to(logits.dtype)

# %% zero-by-zero
# killed_by: blank
"""Your loss is NaN as soon as a row that has a label is blank: the row is divided by a standard
deviation of 0, and 0 / 0 is NaN. Keep the variance from being 0, with 1e-5 under the root for
instance."""

def _standardized(z):
    deviation = z - z.mean(dim=1, keepdim=True)
    return deviation / deviation.square().mean(dim=1, keepdim=True).sqrt()

# %% leaves-blank-rows-out
# killed_by: blank
"""Your mean leaves out blank rows that have a label. Such a row has logits of 0 and a loss of
log(c), and it counts."""

def loss_fn(params, x, y):
    labeled = (y >= 0) & ((x @ params["w1"]).var(dim=1) != 0)
    x, y = x[labeled], y[labeled]
    hidden = torch.relu(_standardized(x @ params["w1"]))
    return _losses(hidden @ params["w2"], y).sum() / max(len(y), 1)

# %% times-zero
# killed_by: unread
"""Your loss is right where rows without a label hold numbers, and NaN where one holds NaN or inf,
as it is when the losses of such rows are multiplied by 0: 0 times NaN is NaN. What should not count
must not take part. Take the rows that have a label first."""

def loss_fn(params, x, y):
    labeled = (y >= 0).to(x.dtype)
    hidden = torch.relu(_standardized(x @ params["w1"]))
    return (_losses(hidden @ params["w2"], y) * labeled).sum() / labeled.sum().clamp(min=1)

# %% mean-over-all-rows
# killed_by: unread
"""You divide by the number of all rows, those without a label included, so that a batch with few
labels has a small loss. Divide by the number of labels."""

def loss_fn(params, x, y):
    rows, labeled = len(y), y >= 0
    x, y = x[labeled], y[labeled]
    hidden = torch.relu(_standardized(x @ params["w1"]))
    return _losses(hidden @ params["w2"], y).sum() / max(rows, 1)

# %% zero-for-nan
# killed_by: [large, blank]
"""Where the script computed NaN, your loss is 0, of a row or of the batch: the number 0 stands for
"I do not know". Nothing is learned from such rows, and the gradient is no better than before. Find
where each NaN begins."""

def loss_fn(params, x, y):
    z = x @ params["w1"]
    deviation = z - z.mean(dim=1, keepdim=True)
    spread = deviation.square().mean(dim=1, keepdim=True).sqrt()
    hidden = torch.relu(deviation / spread)
    weights = torch.exp(hidden @ params["w2"])
    p = weights / weights.sum(dim=1, keepdim=True)
    labeled = (y >= 0).to(p.dtype)
    nll = -torch.log(p[torch.arange(len(y)), y])
    return torch.nan_to_num((nll * labeled).sum() / labeled.sum())

# %% zero-for-nan / rows
def loss_fn(params, x, y):
    z = x @ params["w1"]
    deviation = z - z.mean(dim=1, keepdim=True)
    spread = deviation.square().mean(dim=1, keepdim=True).sqrt()
    hidden = torch.relu(deviation / spread)
    weights = torch.exp(hidden @ params["w2"])
    p = weights / weights.sum(dim=1, keepdim=True)
    labeled = (y >= 0).to(p.dtype)
    nll = torch.nan_to_num(-torch.log(p[torch.arange(len(y)), y]))
    return (nll * labeled).sum() / labeled.sum()

# %% writes-into-x
# killed_by: untouched
"""Your loss_fn writes into the caller's x. The loss is right, and whoever else holds that batch no
longer sees which scans could not be read. Write into a copy, or leave the rows out."""

def loss_fn(params, x, y):
    labeled = y >= 0
    x[~labeled] = 0.0
    hidden = torch.relu(_standardized(x @ params["w1"]))
    losses = _losses(hidden @ params["w2"], y)
    return losses[labeled].sum() / max(int(labeled.sum()), 1)

# %% large-eps
# killed_by: healthy
# parameters: {EPS: [0.0001, 0.001, 0.01, 0.1]}
"""Your loss has an eps of {EPS} under the root. Of a variance of 0.01 that is no small part, and
rows that were right before are now scaled down. 1e-5 is enough for a blank row."""

EPS = 1e-3

# %% statistics-as-constants
# killed_by: gradients
"""Your loss is right, and its gradient takes the standard deviation of a row for a constant. It
depends on w1 as well. The NaN of a blank row is gone that way, and so is a part of the gradient of
every other row."""

def _standardized(z):
    deviation = z - z.mean(dim=1, keepdim=True)
    variance = deviation.square().mean(dim=1, keepdim=True)
    return deviation / torch.sqrt(variance + EPS).detach()

# %% statistics-as-constants / mean-and-spread-as-constants
def _standardized(z):
    with torch.no_grad():
        mean = z.mean(dim=1, keepdim=True)
        spread = torch.sqrt((z - mean).square().mean(dim=1, keepdim=True) + EPS)
    return (z - mean) / spread

# %% slope-at-zero
# killed_by: blank-gradients
"""Your loss is right for a blank row, and its gradient for w1 is NaN. Backward goes through what
was computed and not used as well: 0 comes back to it, and is multiplied by a slope that is inf, of
a root at 0 or of a division by 0. where, clamp or an eps after the root do not help; the variance
has to be positive before the root is taken."""

def _standardized(z):
    deviation = z - z.mean(dim=1, keepdim=True)
    variance = deviation.square().mean(dim=1, keepdim=True)
    return torch.where(variance > 0, deviation / torch.sqrt(variance), 0.0)

# %% slope-at-zero / eps-outside-the-root
def _standardized(z):
    deviation = z - z.mean(dim=1, keepdim=True)
    return deviation / (torch.sqrt(deviation.square().mean(dim=1, keepdim=True)) + EPS)

# %% slope-at-zero / floor-of-the-root
def _standardized(z):
    deviation = z - z.mean(dim=1, keepdim=True)
    return deviation / torch.sqrt(deviation.square().mean(dim=1, keepdim=True)).clamp(min=EPS)

# %% nan-gradients-zeroed
# killed_by: blank-gradients
"""The gradient of w1 is 0 where NaN came back. A blank row spoils every element of it, so all that
the other rows had to say is lost too. Make the variance positive before the root is taken."""

def _standardized(z):
    deviation = z - z.mean(dim=1, keepdim=True)
    return deviation / (deviation.square().mean(dim=1, keepdim=True).sqrt() + EPS)

right_loss = loss_fn

def loss_fn(params, x, y):
    w1 = params["w1"] * 1.0
    if w1.requires_grad:
        w1.register_hook(torch.nan_to_num)
    return right_loss({**params, "w1": w1}, x, y)

# %% left-out-too-late
# killed_by: unread-gradients
"""Your loss is right, and its gradients are NaN where a row without a label is: such rows are left
out once something was computed of them. What comes back to them is 0, and 0 times NaN is NaN. Leave
them out, or overwrite a copy of them, before the first product."""

def loss_fn(params, x, y):
    labeled = y >= 0
    hidden = torch.relu(_standardized(x @ params["w1"]))
    losses = _losses(hidden @ params["w2"], y)
    return torch.where(labeled, losses, 0.0).sum() / max(int(labeled.sum()), 1)

# %% left-out-too-late / picked-after-the-loss
def loss_fn(params, x, y):
    hidden = torch.relu(_standardized(x @ params["w1"]))
    losses = _losses(hidden @ params["w2"], y)[y >= 0]
    return losses.sum() / max(len(losses), 1)

# %% left-out-too-late / ignored-by-cross-entropy
def loss_fn(params, x, y):
    hidden = torch.relu(_standardized(x @ params["w1"]))
    total = torch.nn.functional.cross_entropy(
        hidden @ params["w2"], y, ignore_index=-1, reduction="sum"
    )
    return total / max(int((y >= 0).sum()), 1)

# %% left-out-too-late / overwritten-after-the-product
def loss_fn(params, x, y):
    labeled = y >= 0
    z = torch.where(labeled[:, None], x @ params["w1"], 0.0)
    losses = _losses(torch.relu(_standardized(z)) @ params["w2"], y)[labeled]
    return losses.sum() / max(len(losses), 1)

# %% mean-of-nothing
# killed_by: nothing
"""Your loss of a batch without a label is 0 / 0, the mean of no numbers. The contract asks for 0.
Divide the sum by the number of labels, and by 1 where there is none."""

def loss_fn(params, x, y):
    labeled = y >= 0
    x, y = x[labeled], y[labeled]
    hidden = torch.relu(_standardized(x @ params["w1"]))
    return _losses(hidden @ params["w2"], y).mean()

# %% constant-for-nothing
# killed_by: nothing
"""For a batch without a label your loss is a 0 that nothing was computed for, so that backward
raises an error in the training loop. The sum over no rows is 0 as well, and has a backward."""

def loss_fn(params, x, y):
    labeled = y >= 0
    if not labeled.any():
        return torch.zeros(())
    x, y = x[labeled], y[labeled]
    hidden = torch.relu(_standardized(x @ params["w1"]))
    return _losses(hidden @ params["w2"], y).mean()

# %% zero-beside-the-graph
# killed_by: nothing
"""For a batch without a label your loss is a new tensor that requires a gradient. Its backward
works and reaches nothing: .grad of w1 and w2 stays None, on which an optimizer that averages over
machines waits or raises. The sum over no rows is 0 and belongs to the graph."""

right_loss = loss_fn

def loss_fn(params, x, y):
    if not (y >= 0).any():
        return torch.zeros((), requires_grad=True)
    return right_loss(params, x, y)

# %% hides-nan
# killed_by: shown
"""Your loss is a number although a row that has a label, or a weight, holds NaN. It is overwritten,
left out as if it had no label, or lost in a comparison, which is false for NaN. Nobody will learn
that something is broken. Choose rows by their label alone, and let NaN through."""

def loss_fn(params, x, y):
    labeled = y >= 0
    x, y = torch.nan_to_num(x[labeled], 0.0, 0.0, 0.0), y[labeled]
    hidden = torch.relu(_standardized(x @ params["w1"]))
    return _losses(hidden @ params["w2"], y).sum() / max(len(y), 1)

# %% hides-nan / nan-rows-left-out
def loss_fn(params, x, y):
    labeled = (y >= 0) & x.isfinite().all(dim=1)
    x, y = x[labeled], y[labeled]
    hidden = torch.relu(_standardized(x @ params["w1"]))
    return _losses(hidden @ params["w2"], y).sum() / max(len(y), 1)

# %% hides-nan / nan-rows-as-blank
def _standardized(z):
    deviation = z - z.mean(dim=1, keepdim=True)
    variance = deviation.square().mean(dim=1, keepdim=True)
    spread = torch.where(variance > 0, variance, 1.0).sqrt()
    return torch.where(variance > 0, deviation / spread, 0.0)

# %% hides-nan / nan-in-relu
def loss_fn(params, x, y):
    labeled = y >= 0
    x, y = x[labeled], y[labeled]
    normed = _standardized(x @ params["w1"])
    logits = torch.where(normed > 0, normed, 0.0) @ params["w2"]
    return _losses(logits, y).sum() / max(len(y), 1)

# %% hides-nan / nan-in-logits
def loss_fn(params, x, y):
    labeled = y >= 0
    x, y = x[labeled], y[labeled]
    normed = _standardized(x @ params["w1"])
    logits = torch.nan_to_num(torch.relu(normed) @ params["w2"])
    return _losses(logits, y).sum() / max(len(y), 1)
