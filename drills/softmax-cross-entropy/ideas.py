# %% diagonal-jacobian
# killed_by: line-2
"""The Jacobian you return is diagonal. All classes share one normalizer: raising z_j lowers every
other p_i, by dp_i/dz_j = -p_i p_j. What goes missing is the gradient of every wrong class."""

def softmax_jacobian(p):
    return np.diag(p * (1 - p))

# %% diagonal-jacobian / throughout
def softmax_jacobian(p):
    return np.diag(p * (1 - p))

def cross_entropy_grad(z, target):
    grad = np.zeros(z.shape, z.dtype)
    p = np.exp(log_softmax(z))
    for row in range(len(z)):
        y = np.zeros(z.shape[1], z.dtype)
        y[target[row]] = 1
        grad[row] = contract(softmax_jacobian(p[row]), dloss_dp(p[row], y))
    return grad / max(len(z), 1)

# %% jacobian-sign
# killed_by: line-2
"""Every element of your Jacobian has the opposite sign. Raising a logit raises its own probability:
the diagonal is positive. Usually this is the minus of the loss, which belongs to line 1."""

def softmax_jacobian(p):
    return np.outer(p, p) - np.diag(p)

# %% outer-p-one-minus-p
# killed_by: line-2
"""Your Jacobian is an outer product of p and 1 - p, which is positive off the diagonal: raising one
logit would raise all probabilities, and they could not sum to 1. There it is -p_i p_j."""

def softmax_jacobian(p):
    return np.outer(p, 1 - p)

# %% outer-p-one-minus-p / transposed
def softmax_jacobian(p):
    return np.outer(1 - p, p)

# %% outer-p-one-minus-p / throughout
def softmax_jacobian(p):
    return np.outer(p, 1 - p)

def cross_entropy_grad(z, target):
    grad = np.zeros(z.shape, z.dtype)
    p = np.exp(log_softmax(z))
    for row in range(len(z)):
        y = np.zeros(z.shape[1], z.dtype)
        y[target[row]] = 1
        grad[row] = contract(softmax_jacobian(p[row]), dloss_dp(p[row], y))
    return grad / max(len(z), 1)

# %% jacobian-without-diagonal
# killed_by: line-2
"""Your Jacobian is -p p^T, with a diagonal of -p_i p_i. With i = j the numerator of the softmax
moves as well, which adds p_i."""

def softmax_jacobian(p):
    return -np.outer(p, p)

# %% minus-forgotten
# killed_by: line-1
"""Your line 1 has the opposite sign: L is minus the sum of y_k log p_k, so more probability for a
class with weight lowers the loss."""

_negative = dloss_dp

def dloss_dp(p, y):
    return -_negative(p, y)

# %% weight-forgotten
# killed_by: line-1
"""Your line 1 lacks the weight: it is -1 / p_k wherever y_k is positive, whatever y_k is. For
one-hot targets the weight is 1, so only soft ones show it."""

def dloss_dp(p, y):
    return np.divide(-np.ones_like(y), p, out=np.zeros(p.shape, p.dtype), where=y != 0)

# %% zero-over-zero
# killed_by: zero-in-line-1
"""A class with p = 0 and y = 0 gives 0 / 0, which is NaN. That class does not appear in the sum at
all, and its derivative is 0. Divide only where y is not 0."""

def dloss_dp(p, y):
    return -y / p

# %% contraction-untransposed
# killed_by: line-3
"""You multiply by the Jacobian as it stands. The chain rule sums over the outputs, dL/dz_j = sum_i
J[i, j] g_i. For a softmax nobody sees it, because its Jacobian is symmetric, nor for an elementwise
layer, whose Jacobian is diagonal; for a linear layer it is wrong."""

def contract(jacobian, g):
    return jacobian @ g

# %% contraction-broadcast
# killed_by: line-3
"""Your line 3 is the sum of each column times g_j: numpy's * lines g up with the last axis. The
chain rule has g_i, one for each row: J.T @ g, or (J * g[:, None]).sum(axis=0)."""

def contract(jacobian, g):
    return (jacobian * g).sum(axis=0)

# %% p-minus-y-by-heart
# killed_by: line-4
"""Your line 4 is p - y. That is the result for weights that sum to 1. Multiply the lines out for
any y: p_j is multiplied by the sum of all y_k."""

def dloss_dz(p, y):
    return p - y

# %% weights-normalized
# killed_by: line-4
"""Your line 4 divides y by its sum. Weights of 3 throughout then have the effect of weights of 1.
"""

def dloss_dz(p, y):
    return p - y / y.sum()

# %% sigmoid-habit
# killed_by: line-4
"""Your line 4 has one factor p_j too many. Line 1 divides by p and line 2 multiplies by it: they
cancel."""

def dloss_dz(p, y):
    return p * (p - y)

# %% sigmoid-habit / weighted
def dloss_dz(p, y):
    return p * (y.sum() * p - y)

# %% line-4-sign
# killed_by: line-4
"""Your line 4 has the opposite sign of the gradient: it is the direction in which the loss falls.
The gradient points uphill."""

def dloss_dz(p, y):
    return y - y.sum() * p

# %% line-4-divides
# killed_by: zero-in-line-4
"""Your line 4 is NaN where p_k is 0 and y_k is not. Usually it calls the lines before it: line 1 is
-inf there, the Jacobian holds 0, and their product is NaN. p cancels on paper; cancel it in the
code."""

def dloss_dz(p, y):
    return contract(softmax_jacobian(p), dloss_dp(p, y))

# %% line-4-target-only
# killed_by: line-4
"""Your line 4 is y (p - 1), 0 wherever y is. Raising the logit of a class without weight takes
probability from the others, so the loss depends on all logits: the elements of line 4 sum to 0."""

def dloss_dz(p, y):
    return y * (p - 1)

# %% target-only-gradient
# killed_by: grad
"""Your gradient reaches the target alone. Raising the logit of a wrong class takes probability from
the target, so the loss depends on all logits; each row of the gradient sums to 0."""

def cross_entropy_grad(z, target):
    rows = np.arange(len(z))
    p = np.exp(log_softmax(z))
    grad = np.zeros(z.shape, z.dtype)
    grad[rows, target] = (p[rows, target] - 1) / max(len(z), 1)
    return grad

# %% target-only-gradient / throughout
def dloss_dz(p, y):
    return y * (p - 1)

def cross_entropy_grad(z, target):
    rows = np.arange(len(z))
    p = np.exp(log_softmax(z))
    grad = np.zeros(z.shape, z.dtype)
    grad[rows, target] = (p[rows, target] - 1) / max(len(z), 1)
    return grad

# %% descent-direction
# killed_by: [descent, grad]
"""You return the direction in which the loss falls. The gradient points uphill, and the optimizer
subtracts it: with this sign every step raises the loss."""

_ascent = cross_entropy_grad

def cross_entropy_grad(z, target):
    return -_ascent(z, target)

# %% descent-direction / throughout
_ascent = cross_entropy_grad

def dloss_dz(p, y):
    return y - y.sum() * p

def cross_entropy_grad(z, target):
    return -_ascent(z, target)

# %% forgot-mean
# killed_by: grad
"""Your gradient is that of the sum over the rows, but the loss is their mean. It is too large by
the number of rows, so the step depends on the batch size. Divide by the number of rows."""

_mean_gradient = cross_entropy_grad

def cross_entropy_grad(z, target):
    return _mean_gradient(z, target) * len(z)

# %% sum-loss
# killed_by: loss
"""Your loss is the sum over the rows; the contract asks for their mean. A sum grows with the batch,
and a learning rate that suits one batch size then suits no other. Divide by the number of rows, the
loss and the gradient alike: whichever of the two is not divided yet."""

_mean_loss = cross_entropy

def cross_entropy(z, target):
    return _mean_loss(z, target) * len(z)

# %% sum-loss / throughout
_mean_loss, _mean_gradient = cross_entropy, cross_entropy_grad

def cross_entropy(z, target):
    return _mean_loss(z, target) * len(z)

def cross_entropy_grad(z, target):
    return _mean_gradient(z, target) * len(z)

# %% mean-over-elements
# killed_by: loss
"""Your loss is divided by rows times classes. It is a mean over rows: of each row one element
counts, -log p of its target. Usually np.mean was taken of the products with the one-hot targets, a
(B, C) array whose zeros count as elements."""

_mean_loss, _mean_gradient = cross_entropy, cross_entropy_grad

def cross_entropy(z, target):
    return _mean_loss(z, target) / z.shape[1]

def cross_entropy_grad(z, target):
    return _mean_gradient(z, target) / z.shape[1]

# %% mean-over-elements / mean-over-entries-loss
_mean_loss = cross_entropy

def cross_entropy(z, target):
    return _mean_loss(z, target) / z.shape[1]

# %% double-softmax
# killed_by: grad
"""The softmax is applied twice. The second one sees numbers between 0 and 1 only, so it can give no
class more than e / (e + C - 1), and the gradient never reaches 0, not even at a perfect answer.
Usually probabilities are passed to a function that expects logits."""

_gradient_of_logits = cross_entropy_grad

def cross_entropy_grad(z, target):
    return _gradient_of_logits(np.exp(log_softmax(z)), target)

# %% double-softmax / throughout
_loss_of_logits, _gradient_of_logits = cross_entropy, cross_entropy_grad

def cross_entropy(z, target):
    return _loss_of_logits(np.exp(log_softmax(z)), target)

def cross_entropy_grad(z, target):
    return _gradient_of_logits(np.exp(log_softmax(z)), target)

# %% softmax-wrong-axis
# killed_by: loss
"""Your softmax is normalized over the batch: the columns of its probabilities sum to 1, not the
rows. The classes of one example compete with each other, and examples do not. Usually an axis=0
stands where axis=-1 belongs."""

def log_softmax(z):
    shifted = z - z.max(axis=0, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.exp(shifted).sum(axis=0, keepdims=True))

# %% softmax-over-everything
# killed_by: loss
"""Your softmax is normalized over the whole batch: all its probabilities together sum to 1, not
those of each row. Usually a sum has no axis: take maximum and sum over the last axis, with
keepdims=True."""

def log_softmax(z):
    shifted = z - z.max(initial=-np.inf)
    return shifted - np.log(np.exp(shifted).sum())

# %% naive-overflow
# killed_by: far-logits
"""You take exponentials of the logits as they are: they overflow above about 709 in float64 and 88
in float32, and far below 0 all of a row rounds to 0; inf / inf and 0 / 0 are NaN. Softmax does not
change when the same number is subtracted from every logit of a row, so subtract the maximum of the
row first: the largest exponent is then 0."""

def log_softmax(z):
    e = np.exp(z)
    return np.log(e / e.sum(axis=-1, keepdims=True))

# %% naive-overflow / log-sum
def log_softmax(z):
    return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))

# %% naive-overflow / forward
_stable_log_softmax = log_softmax

def log_softmax(z):
    e = np.exp(z)
    return np.log(e / e.sum(axis=-1, keepdims=True))

def cross_entropy_grad(z, target):
    p = np.exp(_stable_log_softmax(z))
    p[np.arange(len(z)), target] -= 1
    return p / max(len(z), 1)

# %% global-max-shift
# killed_by: far-logits
"""One maximum, that of the whole batch, is subtracted from every row. A row that lies far below it
has nothing but exponentials of 0 left, so its sum is 0 and its logarithm -inf. Usually z.max()
stands where z.max(axis=-1, keepdims=True) belongs."""

def log_softmax(z):
    shifted = z - z.max(initial=-np.inf)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))

# %% global-max-shift / divided
def log_softmax(z):
    e = np.exp(z - z.max(initial=-np.inf))
    return np.log(e / e.sum(axis=-1, keepdims=True))

# %% log-after-softmax
# killed_by: far-logits
"""You take the logarithm of probabilities that have rounded to 0. A class that lies more than about
745 behind has a probability of 0 in float64, and log 0 is -inf, although the log-probability is an
ordinary number such as -1e4. Never form p on the way to log p."""

def log_softmax(z):
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return np.log(e / e.sum(axis=-1, keepdims=True))

# %% log-p-plus-eps
# killed_by: far-logits
# parameters: {EPS: [1e-300, 1e-20, 1e-16, 1e-15, 1e-12, 1e-10, 1e-09, 1e-08, 1e-07]}
"""Your log-probabilities stop at about log({EPS}): {EPS} is added to the probability before the
logarithm. A wrong answer that trails by 1e4 must cost 1e4. Compute log-softmax as z - max -
log(sum(exp(z - max))); nothing in it can become log 0."""

EPS = 1e-12

def log_softmax(z):
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return np.log(e / e.sum(axis=-1, keepdims=True) + EPS)

# %% log-p-bounded
# killed_by: far-logits
# parameters: {EPS: [1e-15, 1e-12, 1e-10, 1e-09, 1e-08, 1e-07, 1e-06]}
"""Your log-probabilities stop at about log({EPS}): a bound of {EPS} is set to the probability
before the logarithm. A wrong answer that trails by 50 must cost 50. Never form p on the way to log
p."""

EPS = 1e-12

def log_softmax(z):
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return np.log(np.maximum(e / e.sum(axis=-1, keepdims=True), EPS))

# %% log-p-bounded / twice
EPS = 1e-12

def log_softmax(z):
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return np.log(np.clip(e / e.sum(axis=-1, keepdims=True), EPS, 1 - EPS))

# %% logits-clipped
# killed_by: far-logits
# parameters: {LIMIT: [50.0, 88.0, 100.0, 500.0, 700.0, 709.0]}
"""You cut the logits, or their distances from the maximum, off at {LIMIT}: beyond it the loss does
not change any more. Shift by the maximum of the row; nothing has to be cut."""

LIMIT = 700.0

def log_softmax(z):
    z = np.clip(z, -LIMIT, LIMIT)
    return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))

# %% logits-clipped / divided
LIMIT = 700.0

def log_softmax(z):
    e = np.exp(np.clip(z, -LIMIT, LIMIT))
    return np.log(e / e.sum(axis=-1, keepdims=True))

# %% logits-clipped / after-the-shift
LIMIT = 700.0

def log_softmax(z):
    shifted = np.maximum(z - z.max(axis=-1, keepdims=True), -LIMIT)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))

# %% loss-from-probabilities
# killed_by: far-losses
"""Your loss is infinite where the target's probability rounds to 0. Usually -log p is taken of a p
that was formed first. Take the target's element of log_softmax."""

def cross_entropy(z, target):
    p = np.exp(log_softmax(z))
    return -np.log(p[np.arange(len(z)), target]).mean()

# %% division-by-p
# killed_by: far-losses
"""Your gradient is NaN where the target's probability rounds to 0. Usually it is multiplied out
from the three lines: a division by that p gives -inf, the Jacobian holds 0 in the same place, and
their product is NaN. On paper p cancels; cancel it in the code as well."""

def cross_entropy_grad(z, target):
    grad = np.zeros(z.shape, z.dtype)
    p = np.exp(log_softmax(z))
    for row in range(len(z)):
        y = np.zeros(z.shape[1], z.dtype)
        y[target[row]] = 1
        grad[row] = contract(softmax_jacobian(p[row]), dloss_dp(p[row], y))
    return grad / max(len(z), 1)

# %% zero-times-minus-infinity
# killed_by: masked
"""Where a class is masked with minus infinity, your loss is NaN. Usually one-hot targets are
multiplied with the log-probabilities, and 0 times -inf is NaN. Index the target instead."""

def cross_entropy(z, target):
    one_hot = np.arange(z.shape[1]) == target[:, None]
    return -(one_hot * log_softmax(z)).sum() / len(z)

# %% float64-returned
# killed_by: single-precision
"""With float32 arrays a result of yours comes back as float64. Usually the array was made with
np.zeros(shape) or np.eye(C), which are float64 unless a dtype is given: write np.zeros(z.shape,
z.dtype). One float64 array is enough: numpy makes what it is combined with float64 too."""

_gradient_in_dtype = cross_entropy_grad

def cross_entropy_grad(z, target):
    return _gradient_in_dtype(z, target).astype(np.float64)

# %% float64-returned / jacobian
_jacobian_in_dtype = softmax_jacobian

def softmax_jacobian(p):
    return _jacobian_in_dtype(p).astype(np.float64)

# %% float64-returned / line-1
_step_in_dtype = dloss_dp

def dloss_dp(p, y):
    return _step_in_dtype(p, y).astype(np.float64)

# %% float64-returned / throughout
_gradient_in_dtype, _jacobian_in_dtype, _step_in_dtype = (
    cross_entropy_grad,
    softmax_jacobian,
    dloss_dp,
)

def dloss_dp(p, y):
    return _step_in_dtype(p, y).astype(np.float64)

def softmax_jacobian(p):
    return _jacobian_in_dtype(p).astype(np.float64)

def cross_entropy_grad(z, target):
    return _gradient_in_dtype(z, target).astype(np.float64)

# %% empty-batch-raises
# killed_by: sizes
"""A batch without rows (B = 0) raises a ValueError. Usually this is a maximum over no elements at
all, which numpy refuses, or a reshape with -1; a maximum over the last axis alone is allowed, and
so is a shape that is written out."""

_of_some_rows = log_softmax

def log_softmax(z):
    z.reshape(z.shape[0], -1)
    return _of_some_rows(z)

# %% shifts-in-place
# killed_by: loss
"""The caller's own logits change: the maximum of each row is gone from them afterwards. Usually
this is z -= z.max(...), which writes into the array that was passed in. Write z - z.max(axis=-1,
keepdims=True), which makes a new array."""

right_log_softmax = log_softmax

def log_softmax(z):
    z -= z.max(axis=1, keepdims=True)
    return right_log_softmax(z)

# %% dot-forgotten
# killed_by: vjp
"""Your softmax_vjp multiplies by p alone. The normalizer's part is missing: subtract the mean of g
under p before."""

def softmax_vjp(p, g):
    return p * g

# %% vjp-diagonal
# killed_by: vjp
"""Your softmax_vjp multiplies by p (1 - p), the diagonal of the Jacobian. The other elements, -p_i
p_j, are missing."""

def softmax_vjp(p, g):
    return p * (1 - p) * g

# %% vjp-of-log-softmax
# killed_by: vjp
"""Your softmax_vjp is g - p sum(g), the backward of log_softmax. Here g arrives at p itself: p (g -
sum(p g))."""

def softmax_vjp(p, g):
    return g - p * g.sum(axis=-1, keepdims=True)

# %% vjp-over-the-batch
# killed_by: vjp
"""Your softmax_vjp adds up p * g over other rows too. Each row has a softmax of its own: sum over
the last axis, with keepdims=True."""

def softmax_vjp(p, g):
    return p * (g - (p * g).sum())

# %% vjp-over-the-batch / axis-0
def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=0))

# %% vjp-mean-of-g
# killed_by: vjp
"""Your softmax_vjp takes the plain mean of g off. What the normalizer takes off is the mean under
p, sum(p * g)."""

def softmax_vjp(p, g):
    return p * (g - g.mean(axis=-1, keepdims=True))
