# %% momentum-swapped
# killed_by: running-mean
"""Your running statistics keep the share `momentum` of the old value and take the rest from the
batch. In torch it is the other way round: momentum is the share of the batch, so new = (1 -
momentum) * old + momentum * batch. With 0.1 yours are nine tenths the latest batch; over
independent batches their mean scatters 3.9 times as widely. TensorFlow's momentum is the share of
the old value."""

def _fade(old, new, share):
    return share * old + (1 - share) * new

# %% swapped-and-biased
# killed_by: [running-mean, running-var]
"""Two things about your running statistics. They keep the share `momentum` of the old value and
take the rest from the batch, as in TensorFlow; in torch momentum is the share of the batch, so new
= (1 - momentum) * old + momentum * batch. And the variance that goes in divides by B; torch
normalizes a batch with that one, and stores the one that divides by B - 1."""

def _fade(old, new, share):
    return share * old + (1 - share) * new

def _stored_variance(x, var):
    return var

# %% biased-running-var
# killed_by: stored-variance
"""Your running variance follows the sum of squared deviations divided by B. torch normalizes a
batch with that one, and stores the one divided by B - 1: the running statistics stand for the data,
of which the batch is a sample. In a batch of 4 they differ by a third."""

def _stored_variance(x, var):
    return var

# %% eval-updates
# killed_by: eval-leaves
"""Your running statistics move in evaluation too. So the validation data leak into the model, and
every loss depends on which batches were evaluated before. Move them in training only."""

class BatchNorm1d(BatchNorm1d):
    def _recall(self, x):
        used = self.running_mean, self.running_var
        self._follow(x.mean(axis=_axes(x)), x.var(axis=_axes(x), ddof=1))
        return used

# %% eval-updates / biased
class BatchNorm1d(BatchNorm1d):
    def _recall(self, x):
        used = self.running_mean, self.running_var
        self._follow(*_batch_statistics(x))
        return used

# %% eval-updates / first
class BatchNorm1d(BatchNorm1d):
    def _recall(self, x):
        self._follow(x.mean(axis=_axes(x)), x.var(axis=_axes(x), ddof=1))
        return self.running_mean, self.running_var

# %% eval-updates / first-biased
class BatchNorm1d(BatchNorm1d):
    def _recall(self, x):
        self._follow(*_batch_statistics(x))
        return self.running_mean, self.running_var

# %% unbiased-normalization
# killed_by: training
"""In training you normalize by the variance that divides by B - 1. torch stores that one, and
normalizes with the one that divides by B: the batch is not a sample here but all there is. Divided
by that root, the squares of a column have a mean of 1 where eps is 0."""

def _batch_statistics(x):
    return x.mean(axis=_axes(x)), x.var(axis=_axes(x), ddof=1)

def _stored_variance(x, var):
    return var

# %% train-uses-running
# killed_by: training
"""In training you normalize by the running statistics. They are for evaluation; in training a batch
is normalized by its own mean and variance."""

class BatchNorm1d(BatchNorm1d):
    def _learn(self, x):
        super()._learn(x)
        return self.running_mean, self.running_var

# %% train-uses-running / before
class BatchNorm1d(BatchNorm1d):
    def _learn(self, x):
        used = self.running_mean, self.running_var
        super()._learn(x)
        return used

# %% eval-batch-statistics
# killed_by: evaluation
"""In evaluation you normalize a batch by its own statistics. So an answer depends on which other
rows are in the batch, and with an eps above 0 a batch of one row gives beta, whatever x is. Use
running_mean and running_var."""

class BatchNorm1d(BatchNorm1d):
    def _recall(self, x):
        return _batch_statistics(x)

# %% running-var-from-zero
# killed_by: running-var
"""Your running variance begins at 0; it should begin at 1. The initial value fades with the
batches, but before that yours is too small, so that evaluation early in training divides by too
little."""

def _initial(gamma):
    return np.zeros_like(gamma), np.zeros_like(gamma)

# %% first-batch-replaces
# killed_by: running-mean
"""Your running statistics are those of the first batch after it. That is a sensible start, but not
torch's: there the first batch enters with the share `momentum`, as every other one does."""

def _share(momentum, batches):
    return 1 if batches == 1 else momentum

# %% eps-outside-root
# killed_by: eps
"""You add eps to the standard deviation; it belongs to the variance, under the root. Take an eps of
1e-5 and a column whose standard deviation is 1e-3: the right divisor is 3.3e-3, and yours is
1.0e-3."""

def _reciprocal(var, eps):
    return 1 / (np.sqrt(var) + eps)

# %% eps-in-evaluation
# killed_by: evaluation
"""In evaluation eps is not where it is in training: you leave it out, or add it to the standard
deviation. torch adds it to the running variance, under the root. A feature that was constant in
training is divided by almost nothing otherwise."""

_recall_of = BatchNorm1d._recall

def _recall(self, x):
    mean, var = _recall_of(self, x)
    return mean, var - self.eps

BatchNorm1d._recall = _recall

# %% eps-in-evaluation / eval-eps-outside-root
_recall_of = BatchNorm1d._recall

def _recall(self, x):
    mean, var = _recall_of(self, x)
    return mean, (np.sqrt(var) + self.eps) ** 2 - self.eps

BatchNorm1d._recall = _recall

# %% statistics-of-each-row
# killed_by: training
"""You normalize each row by its own mean and variance, which is layer norm. Batch norm takes one
feature over the rows of the batch: the axis is 0, not -1."""

_learn_of = BatchNorm1d._learn

def _learn(self, x):
    _learn_of(self, x)
    return x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)

BatchNorm1d._learn = _learn

# %% deviation-stored
# killed_by: running-var
"""Your running_var follows the standard deviation of the batches, and is to follow the variance.
Where a feature has a variance of 1 nobody sees the difference."""

_variance_of = _stored_variance

def _stored_variance(x, var):
    return np.sqrt(_variance_of(x, var))

# %% eps-by-default
# killed_by: defaults
# parameters: {EPS: [0.001, 1e-06, 1e-08, 1e-12]}
"""Where no eps is given you take {EPS}; the contract says 1e-5. Libraries differ here, so a port
has to look at the number."""

EPS = 1e-3

class BatchNorm1d(BatchNorm1d):
    def __init__(self, gamma, beta, eps=None, momentum=0.1):
        super().__init__(gamma, beta, EPS if eps is None else eps, momentum)

# %% momentum-by-default
# killed_by: defaults
# parameters: {MOMENTUM: [0.9, 0.99, 0.01]}
"""Where no momentum is given you take {MOMENTUM}; the contract says 0.1, the share of the newest
batch. Libraries differ in the number, and in what it weighs."""

MOMENTUM = 0.9

class BatchNorm1d(BatchNorm1d):
    def __init__(self, gamma, beta, eps=1e-5, momentum="left out"):
        super().__init__(gamma, beta, eps, MOMENTUM if momentum == "left out" else momentum)

# %% statistics-constant
# killed_by: [dx, column-sums]
"""Your grad_x in training is grad_y * gamma divided by the standard deviation: mean and variance
count as constants. That is right in evaluation. In training x moves both, so two terms are missing.
A test without a reference: the same number added to a column changes nothing in y, so each column
of grad_x sums to 0."""

def _gradient_in_training(g, xhat, rstd):
    return _wide(rstd, g) * g

# %% mean-path-only
# killed_by: [dx, derivative]
"""Your grad_x in training follows x through the mean and treats the standard deviation as a
constant. Its columns sum to 0, as they should, but x moves the standard deviation too: subtract
xhat * mean(g * xhat) as well, with g = grad_y * gamma."""

def _gradient_in_training(g, xhat, rstd):
    return _wide(rstd, g) * (g - _wide(g.mean(axis=_axes(g)), g))

# %% variance-path-only
# killed_by: [dx, column-sums]
"""Your grad_x in training follows x through the standard deviation and treats the mean as a
constant. The same number added to a column changes nothing in y, so each column of grad_x sums to
0; yours does not. Subtract the mean of grad_y * gamma too."""

def _gradient_in_training(g, xhat, rstd):
    return _wide(rstd, g) * (g - xhat * _wide((g * xhat).mean(axis=_axes(g)), g))

# %% divided-by-one-less
# killed_by: dx
"""The terms of your grad_x, or the one through the standard deviation, divide by B - 1. That
belongs to the variance that is stored. y was made with the mean and the variance that divide by B,
so their derivatives do too."""

def _gradient_in_training(g, xhat, rstd):
    mean = g.mean(axis=_axes(g))
    along = (g * xhat).sum(axis=_axes(g)) / (_count(g) - 1)
    return _wide(rstd, g) * (g - _wide(mean, g) - xhat * _wide(along, g))

# %% divided-by-one-less / both-terms-by-one-less
def _gradient_in_training(g, xhat, rstd):
    mean = g.sum(axis=_axes(g)) / (_count(g) - 1)
    along = (g * xhat).sum(axis=_axes(g)) / (_count(g) - 1)
    return _wide(rstd, g) * (g - _wide(mean, g) - xhat * _wide(along, g))

# %% gamma-missing
# killed_by: [dx, frozen]
"""gamma does not appear in your grad_x. y is xhat * gamma + beta, so what reaches xhat is grad_y *
gamma. With a gamma of ones, as at the start of training, nobody sees the difference."""

class BatchNorm1d(BatchNorm1d):
    def backward(self, grad_y):
        xhat, rstd, training = self.kept
        gradient = _gradient_in_training if training else _gradient_in_evaluation
        return gradient(grad_y, xhat, rstd), *_parameter_gradients(grad_y, xhat)

# %% running-var-in-backward
# killed_by: dx
"""In training your grad_x is divided by the root of the running variance. y was divided by that of
the batch, and grad_x has to be as well. Keep what the forward pass used."""

class BatchNorm1d(BatchNorm1d):
    def backward(self, grad_y):
        xhat, rstd, training = self.kept
        rstd = _reciprocal(self.running_var, self.eps) if training else rstd
        gradient = _gradient_in_training if training else _gradient_in_evaluation
        grad_x = gradient(grad_y * _wide(self.gamma, grad_y), xhat, rstd)
        return grad_x, *_parameter_gradients(grad_y, xhat)

# %% training-backward-in-eval
# killed_by: [frozen, derivative-eval]
"""In evaluation your grad_x subtracts the terms through mean and variance. They are constants
there: no element of y depends on another row. grad_x is grad_y * gamma divided by the root of the
running variance plus eps."""

def _gradient_in_evaluation(g, xhat, rstd):
    return _gradient_in_training(g, xhat, rstd)

# %% mode-at-backward
# killed_by: mode
"""Your backward pass is that of the mode the layer has when it is called. What counts is how y was
made: a model that is put into evaluation mode between loss and backward would get gradients of
something else. Keep the mode with what forward keeps."""

class BatchNorm1d(BatchNorm1d):
    def backward(self, grad_y):
        self.kept = (*self.kept[:2], self.training)
        return super().backward(grad_y)

# %% eps-in-stored-variance
# killed_by: defaults
"""eps is in your running_var: you store what stands under the root. torch stores the variance and
adds eps when it divides, in evaluation as in training; with a checkpoint of yours it is added
twice."""

_follow_of = BatchNorm1d._follow

def _follow(self, mean, var):
    _follow_of(self, mean, var + self.eps)

BatchNorm1d._follow = _follow

# %% sums-for-means
# killed_by: dx
"""In training your grad_x subtracts sums over the batch, of g and of g * xhat, where it is means.
Each row has a share of 1 / B in mean and variance."""

def _gradient_in_training(g, xhat, rstd):
    total, along = g.sum(axis=_axes(g)), (g * xhat).sum(axis=_axes(g))
    return _wide(rstd, g) * (g - _wide(total, g) - xhat * _wide(along, g))

# %% no-gradient-in-evaluation
# killed_by: frozen
"""In evaluation your grad_x is 0. Evaluation mode fixes the statistics and nothing else: y still
follows x, so the layers below a frozen one get a gradient. What stops gradients is torch.no_grad().
"""

def _gradient_in_evaluation(g, _xhat, _rstd):
    return 0 * g

# %% gradients-accumulate
# killed_by: mode
"""Your gradients of gamma and beta add up over calls of backward. torch adds into .grad, where an
optimizer clears it; here backward returns the gradients of the latest forward."""

_backward_of = BatchNorm1d.backward

def _backward(self, grad_y):
    grad_x, *grads = _backward_of(self, grad_y)
    before = getattr(self, "grads", (0, 0))
    self.grads = [a + b for a, b in zip(before, grads, strict=True)]
    return grad_x, *self.grads

BatchNorm1d.backward = _backward

# %% variance-term-added
# killed_by: [dx, derivative]
"""In training your grad_x adds xhat * mean(g * xhat), and it is subtracted: where x moves away from
the mean, the standard deviation grows and takes some of it back."""

def _gradient_in_training(g, xhat, rstd):
    mean, along = g.mean(axis=_axes(g)), (g * xhat).mean(axis=_axes(g))
    return _wide(rstd, g) * (g - _wide(mean, g) + xhat * _wide(along, g))

# %% param-grads-averaged
# killed_by: [params, frozen]
"""Your gradients of gamma and beta are means over the batch. Every row uses the same gamma, so
contributions add up; whether the loss is a mean is in grad_y already."""

def _parameter_gradients(grad_y, xhat):
    return (grad_y * xhat).mean(axis=_axes(grad_y)), grad_y.mean(axis=_axes(grad_y))

# %% stale-evaluation
# killed_by: turns
"""After the first evaluation yours always uses the running statistics of that time, whatever was
learned since. Usually scale and shift were made from them once and kept. Training in between moves
them, so make them anew."""

class BatchNorm1d(BatchNorm1d):
    def _recall(self, x):
        if not hasattr(self, "first"):
            self.first = self.running_mean, self.running_var
        return self.first

# %% positions-averaged
# killed_by: sequences
"""Your variance of a sequence is taken at each position over the batch, and averaged. It lacks how
the means of the positions differ. Take mean and variance over both axes at once."""

def _batch_statistics(x):
    mean, var = x.mean(axis=0), x.var(axis=0)
    return (mean, var) if x.ndim == 2 else (mean.mean(axis=-1), var.mean(axis=-1))

# %% count-is-the-batch
# killed_by: sequences
"""Your stored variance is scaled by B / (B - 1) for sequences as well. A feature has B * L values
there, so it is B * L / (B * L - 1)."""

def _stored_variance(x, var):
    return var * (np.float64(len(x)) / (len(x) - 1)).astype(var.dtype)

# %% along-the-positions
# killed_by: sequences-eval
"""In evaluation your running statistics meet the last axis of (B, n, L), which is that of the
positions. Where L is n nothing is raised, and each position gets the statistics of a feature;
elsewhere numpy refuses. Give them the shape (n, 1) for sequences."""

class BatchNorm1d(BatchNorm1d):
    def forward(self, x):
        if self.training:
            return super().forward(x)
        rstd = _reciprocal(self.running_var, self.eps)
        xhat = (x - self.running_mean) * rstd
        self.kept = xhat, rstd, False
        return xhat * _wide(self.gamma, x) + _wide(self.beta, x)

def _gradient_in_evaluation(g, xhat, rstd):
    return g * rstd

# %% one-sequence-refused
# killed_by: one-sequence
"""You raise an exception for every batch of one in training. A single sequence has as many values
per feature as positions, and a variance. What is to be refused is a single value."""

class BatchNorm1d(BatchNorm1d):
    def _learn(self, x):
        if len(x) == 1:
            raise ValueError("a batch of one has no variance to train with")
        return super()._learn(x)

# %% single-value-accepted
# killed_by: single-value
"""You train on a single value per feature. Its deviation from its own mean is 0, so with an eps
above 0 y is beta whatever x is, and there is no variance to store. Raise ValueError."""

class BatchNorm1d(BatchNorm1d):
    def _learn(self, x):
        with np.errstate(all="ignore"):
            self._follow(x.mean(axis=_axes(x)), x.var(axis=_axes(x), ddof=1))
        return _batch_statistics(x)

# %% single-value-accepted / single-value-with-a-variance-of-0
class BatchNorm1d(BatchNorm1d):
    def _learn(self, x):
        mean, var = _batch_statistics(x)
        count = _count(x)
        self._follow(mean, var * (count / max(count - 1, 1)))
        return mean, var

# %% single-value-refused-late
# killed_by: single-value
"""You refuse a single value per feature, but a running statistic has moved before. Whoever catches
the error and goes on has a layer that learned from a batch it refused. Check first."""

class BatchNorm1d(BatchNorm1d):
    def _learn(self, x):
        if _count(x) == 1:
            share = _share(self.momentum, self.batches + 1)
            self.running_mean = _fade(self.running_mean, x.mean(axis=_axes(x)), share)
        return super()._learn(x)

# %% single-value-refused-late / single-value-refused-last
class BatchNorm1d(BatchNorm1d):
    def _learn(self, x):
        if _count(x) == 1:
            self._follow(*_batch_statistics(x))
        return super()._learn(x)

# %% none-as-default
# killed_by: plain-average
"""With momentum=None your running statistics fade with 0.1. In torch None means a plain average:
the k-th batch enters with the share 1 / k."""

def _share(momentum, batches):
    return 0.1 if momentum is None else momentum

# %% none-counts-the-start
# killed_by: plain-average
"""With momentum=None your initial 0 and 1 count as if they were a batch: the k-th batch enters with
1 / (k + 1). The first has to enter with 1, so that nothing is left of them."""

def _share(momentum, batches):
    return 1 / (batches + 1) if momentum is None else momentum

# %% none-is-the-latest
# killed_by: plain-average
"""With momentum=None your running statistics are those of the latest batch. They should be the
average of all so far: the k-th batch enters with the share 1 / k."""

def _share(momentum, batches):
    return 1 if momentum is None else momentum

# %% evaluation-counts
# killed_by: average-in-turn
"""With momentum=None yours counts the batches of evaluation too, so the next batch of training has
too small a share. The average is over batches in training: count those alone."""

class BatchNorm1d(BatchNorm1d):
    def _recall(self, x):
        self.batches += 1
        return super()._recall(x)

# %% float64-kept
# killed_by: single-precision
"""With float32 arrays your running statistics become float64 in training, and what is then
evaluated with them as well. Usually np.zeros(n) made them, which is float64 unless a dtype is
given: np.zeros_like(gamma) is not."""

def _initial(gamma):
    return np.zeros(len(gamma)), np.ones(len(gamma))

# %% float64-kept / float64-throughout
class BatchNorm1d(BatchNorm1d):
    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        super().__init__(gamma.astype(np.float64), beta.astype(np.float64), eps, momentum)

    def forward(self, x):
        return super().forward(x.astype(np.float64))

    def backward(self, grad_y):
        return super().backward(grad_y.astype(np.float64))

# %% shared-between-layers
# killed_by: two-layers
"""Your layers share their running statistics: what one learns, the other has too. Usually they
belong to the class, or to the module, and not to the object."""

class BatchNorm1d(BatchNorm1d):
    @property
    def running_mean(self):
        return BatchNorm1d.mean_of_all

    @running_mean.setter
    def running_mean(self, value):
        BatchNorm1d.mean_of_all = value

    @property
    def running_var(self):
        return BatchNorm1d.var_of_all

    @running_var.setter
    def running_var(self, value):
        BatchNorm1d.var_of_all = value

# %% checkpoint-written-over
# killed_by: loaded
"""Your layer moves its running statistics in place, in the arrays that were assigned to it. Whoever
loaded a checkpoint finds it changed after the next training step. Make new arrays, or copy what you
are given."""

def _fade(old, new, share):
    old *= 1 - share
    old += share * new
    return old
