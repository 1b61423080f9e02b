# %% statistics-constant
# killed_by: [dx, row-sums]
"""Your grad_x is grad_y * gamma divided by the standard deviation: mean and standard deviation
count as constants. But x moves both, so two terms are missing, one through the mean and one through
the standard deviation. A test that needs no reference: the same number added to a row changes
nothing in y, so each row of grad_x sums to 0."""

def _layernorm_grad_x(grad_y, gamma, xhat, rstd):
    return rstd * grad_y * gamma

# %% mean-path-only
# killed_by: [dx, derivative]
"""Your grad_x follows x through the mean and treats the standard deviation as a constant. Its rows
sum to 0, as they should. But stretching a row changes next to nothing in y either, so grad_x must
be all but at right angles to the normalized row. Subtract xhat * mean(g * xhat) as well, with g =
grad_y * gamma."""

def _layernorm_grad_x(grad_y, gamma, xhat, rstd):
    g = grad_y * gamma
    return rstd * (g - _mean(g))

# %% variance-path-only
# killed_by: [dx, row-sums]
"""Your grad_x follows x through the standard deviation and treats the mean as a constant, which is
what RMSNorm wants. The same number added to a row changes nothing in y, so each row of grad_x sums
to 0; yours does not. Subtract the mean of grad_y * gamma too."""

def _layernorm_grad_x(grad_y, gamma, xhat, rstd):
    g = grad_y * gamma
    return rstd * (g - xhat * _mean(g * xhat))

# %% variance-path-sign
# killed_by: dx
"""In your grad_x the term through the standard deviation is added; it has to be subtracted. The
standard deviation stands in the denominator: if it grows, the normalized row shrinks. With the
wrong sign grad_x is not at right angles to that row but has twice as much along it as the path
without statistics."""

def _layernorm_grad_x(grad_y, gamma, xhat, rstd):
    g = grad_y * gamma
    return rstd * (g - _mean(g) + xhat * _mean(g * xhat))

# %% gamma-outside
# killed_by: dx
"""You take the means of grad_y and multiply by gamma at the end. gamma differs from feature to
feature, so it cannot be pulled out of a mean over the features. Multiply grad_y by gamma first.
With a gamma of ones nobody sees the difference."""

def _layernorm_grad_x(grad_y, gamma, xhat, rstd):
    return gamma * rstd * (grad_y - _mean(grad_y) - xhat * _mean(grad_y * xhat))

# %% gamma-missing
# killed_by: dx
"""gamma does not appear in your grad_x. The output is xhat * gamma + beta, so what reaches xhat is
grad_y * gamma. With a gamma of ones, as at the start of training, nobody sees the difference."""

def _layernorm_grad_x(grad_y, gamma, xhat, rstd):
    return rstd * (grad_y - _mean(grad_y) - xhat * _mean(grad_y * xhat))

# %% sums-for-means
# killed_by: dx
"""In your grad_x sums over the row are subtracted where means belong. Mean and variance both carry
the factor 1 / D, and so do their derivatives."""

def _layernorm_grad_x(grad_y, gamma, xhat, rstd):
    g = grad_y * gamma
    return rstd * (g - g.sum(-1, keepdims=True) - xhat * (g * xhat).sum(-1, keepdims=True))

# %% rstd-missing
# killed_by: dx
"""Your grad_x is not divided by the standard deviation: it is the right one times sqrt(var + eps).
The forward pass divides each row by that number, so a row with twice the spread gets half the
gradient."""

def _layernorm_grad_x(grad_y, gamma, xhat, rstd):
    g = grad_y * gamma
    return g - _mean(g) - xhat * _mean(g * xhat)

# %% mean-term-added
# killed_by: [dx, row-sums]
"""In your grad_x the term through the mean is added; it has to be subtracted. The mean is
subtracted in the forward pass, so what moves it takes something away: rows of grad_x sum to 0."""

def _layernorm_grad_x(grad_y, gamma, xhat, rstd):
    g = grad_y * gamma
    return rstd * (g + _mean(g) - xhat * _mean(g * xhat))

# %% means-over-the-batch
# killed_by: dx
"""The means in your grad_x run over the rows, as in batch norm. LayerNorm's statistics are those of
a row, so its terms are means over the last axis."""

def _layernorm_grad_x(grad_y, gamma, xhat, rstd):
    g = grad_y * gamma
    rows = tuple(range(g.ndim - 1))
    return rstd * (g - g.mean(axis=rows) - xhat * (g * xhat).mean(axis=rows))

# %% statistics-of-everything
# killed_by: forward
"""One mean and one variance are taken of the whole array, so a row depends on the other rows.
LayerNorm takes them of each row: axis=-1, keepdims=True."""

_row_mean = _mean

def layernorm(x, gamma, beta, eps=1e-5):
    centered = x - x.mean()
    rstd = np.full_like(_row_mean(x), 1.0 / np.sqrt((centered * centered).mean() + eps))
    xhat = centered * rstd
    return xhat * gamma + beta, (xhat, rstd, gamma)

# %% beta-forgotten
# killed_by: forward
"""beta is not added: y is xhat * gamma. Its gradient, the sum of grad_y over the rows, would move
nothing."""

_with_beta = layernorm

def layernorm(x, gamma, beta, eps=1e-5):
    return _with_beta(x, gamma, np.zeros_like(beta), eps)

# %% eps-in-forward-only
# killed_by: dx
"""Your y has eps and your gradients do not: backward takes the statistics anew, without it. They
are then those of another function. Keep what forward divided by."""

_with_eps = layernorm

def layernorm(x, gamma, beta, eps=1e-5):
    return _with_eps(x, gamma, beta, eps)[0], _with_eps(x, gamma, beta, 1e-30)[1]

# %% param-grads-of-each-row
# killed_by: params
"""Your gradients of gamma and beta keep a row for every row of x. All rows share one gamma, so what
they contribute is added up: the sum over all axes but the last."""

def _over_rows(values):
    return values

# %% eps-outside-root
# killed_by: eps
"""You add eps to the standard deviation; it belongs to the variance, under the root. Take an eps of
1e-5 and a row whose standard deviation is 1e-3: the right divisor is 3.3e-3, since the root of eps
is larger than that, and yours is 1.0e-3."""

def _rstd(centered, eps):
    return 1.0 / (np.sqrt(_mean(centered * centered)) + eps)

# %% eps-outside-root / differentiated
right = layernorm

def layernorm(x, gamma, beta, eps=1e-5):
    centered = _centered(x)
    std = np.sqrt(_mean(centered * centered))
    xhat = centered / (std + eps)
    return xhat * gamma + beta, (xhat, std, gamma, eps)

def layernorm_backward(grad_y, ctx):
    xhat, std, gamma, eps = ctx
    g = grad_y * gamma
    grad_x = (g - _mean(g)) / (std + eps) - xhat * _mean(g * xhat) / std
    return grad_x, _over_rows(grad_y * xhat), _over_rows(grad_y)

# %% eps-forgotten
# killed_by: eps
"""Your y does not depend on eps. For rows with a large spread nobody notices. Where the standard
deviation is 1e-3 and eps 1e-5, the divisor must be 3.3e-3, and yours is 1.0e-3."""

def _rstd(centered, eps):
    return 1.0 / np.sqrt(_mean(centered * centered))

# %% eps-as-floor
# killed_by: eps
"""Your variance is never below eps, but eps is not added to it. The contract has var + eps under
the root, which also bends the values of rows far above the floor."""

def _rstd(centered, eps):
    return 1.0 / np.sqrt(np.maximum(_mean(centered * centered), eps))

# %% eps-by-default
# killed_by: default
# parameters: {EPS: [1e-12, 1e-08, 1e-06]}
"""Where no eps is given you take {EPS}; the contract says 1e-5, as torch.nn.functional.layer_norm
does. Weights that were trained with one value and used with another give other activations wherever
the variance is small."""

EPS = 1.0e-6
with_eps = layernorm

def layernorm(x, gamma, beta, eps=None):
    return with_eps(x, gamma, beta, EPS if eps is None else eps)

# %% unbiased-variance
# killed_by: forward
"""You divide the sum of the squared deviations by D - 1. That estimates a population's variance
from a sample, and is the default of torch.var; a normalization layer takes the variance of the row
it has, and divides by D."""

def _rstd(centered, eps):
    return 1.0 / np.sqrt((centered * centered).sum(-1, keepdims=True) / (centered.shape[-1] - 1) + eps)

# %% unbiased-variance / differentiated
def _rstd(centered, eps):
    return 1.0 / np.sqrt((centered * centered).sum(-1, keepdims=True) / (centered.shape[-1] - 1) + eps)

def _layernorm_grad_x(grad_y, gamma, xhat, rstd):
    g = grad_y * gamma
    return rstd * (g - _mean(g) - xhat * (g * xhat).sum(-1, keepdims=True) / (g.shape[-1] - 1))

# %% divides-by-the-variance
# killed_by: forward
"""You divide by the variance, without the root. A row with ten times the spread would come out with
a tenth of it, not the same."""

def _rstd(centered, eps):
    return 1.0 / (_mean(centered * centered) + eps)

# %% param-grads-averaged
# killed_by: params
"""Your gradients of gamma and beta are means over the rows. Each row uses the same gamma, so its
contributions add up; whether the loss is a mean is in grad_y already."""

def _over_rows(values):
    return values.mean(axis=tuple(range(values.ndim - 1)))

# %% param-grads-first-axis
# killed_by: params
"""Your gradients of gamma and beta are summed over the first axis only, so that with batch and time
in front their shape is too large. gamma is shared by both: sum over all axes but the last."""

def _over_rows(values):
    return values.sum(axis=0)

# %% dgamma-with-output
# killed_by: params
"""Your grad_gamma is the sum of grad_y * y. gamma multiplies the normalized x, before beta is
added, so its gradient is the sum of grad_y * xhat."""

def layernorm(x, gamma, beta, eps=1e-5):
    centered = _centered(x)
    rstd = _rstd(centered, eps)
    xhat = centered * rstd
    return xhat * gamma + beta, (xhat, rstd, gamma, beta)

def layernorm_backward(grad_y, ctx):
    xhat, rstd, gamma, beta = ctx
    grad_x = _layernorm_grad_x(grad_y, gamma, xhat, rstd)
    return grad_x, _over_rows(grad_y * (xhat * gamma + beta)), _over_rows(grad_y)

# %% dgamma-with-input
# killed_by: params
"""Your grad_gamma is the sum of grad_y * x, with x as it came in. What gamma multiplies is the
normalized x, so its gradient is the sum of grad_y * xhat."""

def layernorm(x, gamma, beta, eps=1e-5):
    centered = _centered(x)
    rstd = _rstd(centered, eps)
    return centered * rstd * gamma + beta, (x, centered * rstd, rstd, gamma)

def layernorm_backward(grad_y, ctx):
    x, xhat, rstd, gamma = ctx
    grad_x = _layernorm_grad_x(grad_y, gamma, xhat, rstd)
    return grad_x, _over_rows(grad_y * x), _over_rows(grad_y)

# %% axis-one
# killed_by: cube
"""Your means run along axis 1. Of a matrix that is the last axis; with batch and time in front it
is time, and tokens are mixed. Take axis=-1."""

def _mean(values):
    return values.mean(axis=1, keepdims=True)

# %% rms-centered
# killed_by: rms
"""Your RMSNorm subtracts the mean of the row. It leaves the mean where it is: all it does is divide
by the root mean square, and multiply by gamma."""

def rmsnorm(x, gamma, eps=1e-5):
    centered = x - x.mean(axis=-1, keepdims=True)
    rrms = _rrms(centered, eps)
    return centered * rrms * gamma, (centered * rrms, rrms, gamma)

# %% rms-centered / differentiated
def rmsnorm(x, gamma, eps=1e-5):
    centered = x - x.mean(axis=-1, keepdims=True)
    rrms = _rrms(centered, eps)
    return centered * rrms * gamma, (centered * rrms, rrms, gamma)

def _rmsnorm_grad_x(g, xhat, rrms):
    return rrms * (g - _mean(g) - xhat * _mean(g * xhat))

# %% rms-by-the-deviation
# killed_by: rms
"""Your RMSNorm divides by the standard deviation, which is about the mean. The mean square is taken
of x as it is: it is the variance plus the square of the mean."""

def _rrms(x, eps):
    return 1.0 / np.sqrt(x.var(axis=-1, keepdims=True) + eps)

# %% rms-norm-not-mean
# killed_by: rms
"""Your RMSNorm divides by the Euclidean norm of the row. The root mean square has a factor 1 / D
under the root, so your y is too small by a factor of sqrt(D)."""

def _rrms(x, eps):
    return 1.0 / np.sqrt((x * x).sum(axis=-1, keepdims=True) + eps)

# %% rms-norm-not-mean / differentiated
def _rrms(x, eps):
    return 1.0 / np.sqrt((x * x).sum(axis=-1, keepdims=True) + eps)

def _rmsnorm_grad_x(g, xhat, rrms):
    return rrms * (g - xhat * (g * xhat).sum(axis=-1, keepdims=True))

# %% rms-eps-outside
# killed_by: rms-eps
"""In your RMSNorm eps is added to the root mean square; it belongs to the mean square, under the
root. With an eps of 1e-5 and a row around 1e-3 the right divisor is 3.3e-3 and yours 1.0e-3."""

def _rrms(x, eps):
    return 1.0 / (np.sqrt(_mean(x * x)) + eps)

# %% rms-eps-forgotten
# killed_by: rms-eps
"""The y of your RMSNorm does not depend on eps. A row of zeros gives 0 / 0 that way, and small rows
are stretched as far as large ones."""

def _rrms(x, eps):
    return 1.0 / np.sqrt(_mean(x * x))

# %% rms-eps-by-default
# killed_by: rms-default
# parameters: {EPS: [2.220446049250313e-16, 1e-08, 1e-06]}
"""Where no eps is given, your RMSNorm takes {EPS}; the contract says 1e-5. Libraries differ here:
torch.nn.functional.rms_norm takes the distance from 1 to the next number of the dtype, and many
models have 1e-6. Whoever exports weights has to export eps too."""

EPS = 1.0e-6
with_eps = rmsnorm

def rmsnorm(x, gamma, eps=None):
    return with_eps(x, gamma, EPS if eps is None else eps)

# %% rms-with-mean-path
# killed_by: rms-grads
"""The grad_x of your RMSNorm has the term through the mean, as that of LayerNorm has. RMSNorm
subtracts no mean, so there is no path through one, and its rows need not sum to 0. Only the term
through the root mean square remains."""

def _rmsnorm_grad_x(g, xhat, rrms):
    return rrms * (g - _mean(g) - xhat * _mean(g * xhat))

# %% rms-constant
# killed_by: [rms-grads, rms-derivative]
"""The grad_x of your RMSNorm is grad_y * gamma divided by the root mean square, which counts as a
constant. But x moves it. With an eps of 0 doubling a row changes nothing in y, so each row of
grad_x is at right angles to that row of x; yours is not."""

def _rmsnorm_grad_x(g, xhat, rrms):
    return rrms * g

# %% rms-gamma-plus-one
# killed_by: rms
"""Your RMSNorm multiplies by 1 + gamma, as models do that keep the distance of their weights from
1, Gemma among them. This contract multiplies by gamma: a checkpoint has to be read by the rule that
it was trained with."""

_plain_rms = rmsnorm

def rmsnorm(x, gamma, eps=1e-5):
    return _plain_rms(x, 1 + gamma, eps)

# %% rms-sum-for-mean
# killed_by: rms-grads
"""The grad_x of your RMSNorm subtracts xhat times a sum over the row where it is a mean. The mean
square carries the factor 1 / D, and so does its derivative."""

def _rmsnorm_grad_x(g, xhat, rrms):
    return rrms * (g - xhat * (g * xhat).sum(axis=-1, keepdims=True))

# %% rms-gamma-outside
# killed_by: rms-grads
"""In RMSNorm you take the mean of grad_y * xhat and multiply by gamma at the end. gamma differs
from feature to feature, so it cannot be pulled out of a mean over the features. Multiply grad_y by
gamma first."""

def rmsnorm_backward(grad_y, ctx):
    xhat, rrms, gamma = ctx
    return gamma * _rmsnorm_grad_x(grad_y, xhat, rrms), _over_rows(grad_y * xhat)

# %% cancelling-variance
# killed_by: far
"""You compute the variance as the mean of x squared less the square of the mean: a difference of
two large numbers, where rows are far from 0. With a mean a thousand times the spread it loses six
digits, and float32 has seven; it can even come out negative. Subtract the mean first, then square.
"""

def layernorm(x, gamma, beta, eps=1e-5):
    mean = _mean(x)
    rstd = 1.0 / np.sqrt(_mean(x * x) - mean * mean + eps)
    xhat = (x - mean) * rstd
    return xhat * gamma + beta, (xhat, rstd, gamma)

# %% xhat-from-output
# killed_by: degenerate
"""Where gamma is 0 your gradients are NaN. Usually the normalized x is recovered from y by dividing
by gamma, and that is 0 / 0 there. Keeping y in place of x is a real trick to save memory, but it
needs gamma away from 0. Keep xhat, or x and its statistics."""

def layernorm(x, gamma, beta, eps=1e-5):
    centered = _centered(x)
    rstd = _rstd(centered, eps)
    y = centered * rstd * gamma + beta
    return y, (y, rstd, gamma, beta)

def layernorm_backward(grad_y, ctx):
    y, rstd, gamma, beta = ctx
    xhat = (y - beta) / gamma
    grad_x = _layernorm_grad_x(grad_y, gamma, xhat, rstd)
    return grad_x, _over_rows(grad_y * xhat), _over_rows(grad_y)

# %% xhat-from-output / rms
def rmsnorm(x, gamma, eps=1e-5):
    rrms = _rrms(x, eps)
    y = x * rrms * gamma
    return y, (y, rrms, gamma)

def rmsnorm_backward(grad_y, ctx):
    y, rrms, gamma = ctx
    xhat = y / gamma
    return _rmsnorm_grad_x(grad_y * gamma, xhat, rrms), _over_rows(grad_y * xhat)

# %% xhat-from-output / both
def layernorm(x, gamma, beta, eps=1e-5):
    centered = _centered(x)
    rstd = _rstd(centered, eps)
    y = centered * rstd * gamma + beta
    return y, (y, rstd, gamma, beta)

def layernorm_backward(grad_y, ctx):
    y, rstd, gamma, beta = ctx
    xhat = (y - beta) / gamma
    grad_x = _layernorm_grad_x(grad_y, gamma, xhat, rstd)
    return grad_x, _over_rows(grad_y * xhat), _over_rows(grad_y)

def rmsnorm(x, gamma, eps=1e-5):
    rrms = _rrms(x, eps)
    y = x * rrms * gamma
    return y, (y, rrms, gamma)

def rmsnorm_backward(grad_y, ctx):
    y, rrms, gamma = ctx
    xhat = y / gamma
    return _rmsnorm_grad_x(grad_y * gamma, xhat, rrms), _over_rows(grad_y * xhat)

# %% float64-returned
# killed_by: single-precision
"""With float32 arrays a result of yours comes back as float64. Computing in float64 is fine; give
back the dtype that came in. One float64 array is enough: numpy makes what it is combined with
float64 too."""

def layernorm(x, gamma, beta, eps=1e-5):
    centered = _centered(x.astype(np.float64))
    rstd = _rstd(centered, eps)
    xhat = centered * rstd
    return xhat * gamma + beta, (xhat, rstd, gamma)

def rmsnorm(x, gamma, eps=1e-5):
    wide = x.astype(np.float64)
    rrms = _rrms(wide, eps)
    return wide * rrms * gamma, (wide * rrms, rrms, gamma)

# %% float64-returned / y
right = layernorm

def layernorm(x, gamma, beta, eps=1e-5):
    y, ctx = right(x, gamma, beta, eps)
    return y.astype(np.float64), ctx

# %% float64-returned / gradients
right, right_rms = layernorm, rmsnorm

def layernorm(x, gamma, beta, eps=1e-5):
    y, (xhat, rstd, gamma) = right(x.astype(np.float64), gamma, beta, eps)
    return y.astype(x.dtype), (xhat, rstd, gamma)

def rmsnorm(x, gamma, eps=1e-5):
    y, (xhat, rrms, gamma) = right_rms(x.astype(np.float64), gamma, eps)
    return y.astype(x.dtype), (xhat, rrms, gamma)

# %% ctx-in-a-global
# killed_by: once-more
"""Your backward uses what the latest forward pass left, whichever ctx it is given. A model has many
such layers, and all but one of them get the gradients of another. Put everything that backward
needs into the ctx that forward returns."""

right_forward, right_backward = layernorm, layernorm_backward
latest = None

def layernorm(x, gamma, beta, eps=1e-5):
    global latest
    y, latest = right_forward(x, gamma, beta, eps)
    return y, {}

def layernorm_backward(grad_y, ctx):
    return right_backward(grad_y, latest)

# %% ctx-used-up
# killed_by: once-more
"""Your first backward pass on a ctx is right, and a second one is not. Usually the first writes
into an array of the ctx, as xhat *= ... does. Make a new array instead: xhat * ...."""

right_backward = layernorm_backward

def layernorm_backward(grad_y, ctx):
    xhat, rstd, gamma = ctx
    results = right_backward(grad_y, ctx)
    g = grad_y * gamma
    xhat *= _mean(g * xhat)
    return results

# %% centers-in-place
# killed_by: [forward, eps, params, dx]
"""The caller's own x changes: afterwards its rows have their mean taken off. In a transformer the
residual connection adds that x to what the block computes. Usually this is x -= mean; write x -
mean, which makes a new array."""

def _centered(x):
    x -= _mean(x)
    return x

# %% keeps-x-and-xhat
# killed_by: state
"""Your ctx holds two arrays of the size of x. One is enough: from xhat and the reciprocal standard
deviation of each row everything in the backward pass follows, and so it does from x and the two
statistics."""

right_forward, right_backward = layernorm, layernorm_backward

def layernorm(x, gamma, beta, eps=1e-5):
    y, (xhat, rstd, gamma) = right_forward(x, gamma, beta, eps)
    return y, (x, xhat, rstd, gamma)

def layernorm_backward(grad_y, ctx):
    return right_backward(grad_y, ctx[1:])

# %% keeps-x-and-xhat / keeps-centered-and-xhat
right_forward, right_backward = layernorm, layernorm_backward

def layernorm(x, gamma, beta, eps=1e-5):
    y, (xhat, rstd, gamma) = right_forward(x, gamma, beta, eps)
    return y, (_centered(x), xhat, rstd, gamma)

def layernorm_backward(grad_y, ctx):
    return right_backward(grad_y, ctx[1:])

# %% mean-term-twice
# killed_by: [dx, row-sums]
"""In your grad_x the mean of grad_y * gamma is subtracted twice. Usually the path through the mean is
counted once on its own and once more inside the path through the variance; that second part is 0,
because deviations from a mean add up to 0. Each row of grad_x sums to 0, and yours does not."""

def _layernorm_grad_x(grad_y, gamma, xhat, rstd):
    g = grad_y * gamma
    return rstd * (g - 2 * _mean(g) - xhat * _mean(g * xhat))
