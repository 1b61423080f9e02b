# %% activates-output
# killed_by: forward
"""The activation is applied to the output, too. In the contract the second layer is linear, y = h
W2^T + b2: a target may be any number, below 0 or above 1."""

right_forward, right_backward = forward, backward

def forward(x, W1, b1, W2, b2, act):
    y, cache = right_forward(x, W1, b1, W2, b2, act)
    y = _activation(y, act)
    return y, (y, cache)

def backward(grad_y, cache):
    y, cache = cache
    return right_backward(_through_activation(grad_y, y, cache[-1]), cache)

# %% divided-by-entries
# killed_by: loss
"""Your mean runs over all B times o elements of y - t, as the mean squared error of many libraries
does. The contract adds up the o squares of a row, halves them, and takes the mean over the B rows.
"""

right_error = half_squared_error

def half_squared_error(y, t, keep=None):
    loss, grad_y = right_error(y, t, keep)
    return loss / y.shape[1], grad_y / y.shape[1]

# %% divided-by-entries / mean-of-squares
right_error = half_squared_error

def half_squared_error(y, t, keep=None):
    loss, grad_y = right_error(y, t, keep)
    return 2 * loss / y.shape[1], 2 * grad_y / y.shape[1]

# %% half-forgotten
# killed_by: loss
"""Your loss is twice that of the contract: the squares are not halved. The half is there so that
the gradient is y - t, divided by B, without a 2."""

right_error = half_squared_error

def half_squared_error(y, t, keep=None):
    loss, grad_y = right_error(y, t, keep)
    return 2 * loss, 2 * grad_y

# %% half-forgotten / in-loss
def _half_of_squares(residual):
    return float((residual * residual).sum())

# %% two-in-gradient
# killed_by: loss
"""Your grad_y is twice the gradient of your loss. The derivative of the square brings a 2, and the
half of the loss takes it away again."""

right_error = half_squared_error

def half_squared_error(y, t, keep=None):
    loss, grad_y = right_error(y, t, keep)
    return loss, 2 * grad_y

# %% summed-over-rows
# killed_by: loss
"""Your loss is the sum over the rows, so that it and its gradient grow with the batch. The contract
asks for the mean over the B rows."""

def _count(rows):
    return 1

# %% gradient-not-divided
# killed_by: loss
"""Your loss is a mean over the rows, and your grad_y is the gradient of the sum: it is B times too
large. The 1 / B of the loss belongs in grad_y; from there backward carries it to every gradient."""

right_error = half_squared_error

def half_squared_error(y, t, keep=None):
    rows = np.ones(len(y), dtype=bool) if keep is None else keep
    return right_error(y, t, keep)[0], _residual(y, t, rows)

# %% residual-reversed
# killed_by: loss
"""Your grad_y has the wrong sign: it is t - y where it should be y - t, each divided by B. A step
against it leads uphill."""

def _residual(y, t, rows):
    return np.where(rows[:, None], t - y, 0)

# %% bias-averaged
# killed_by: [biases, differences]
"""You take the mean over the rows for the gradient of a bias. The bias is added to every row, so
the rows' shares add up; the 1 / B of the loss is in each of them already. A mean over B rows is B
times too small, and with one row it is right. Use sum(axis=0)."""

def _grad_bias(grad):
    return grad.mean(axis=0)

# %% bias-averaged / hidden
right_backward = backward

def backward(grad_y, cache):
    grads = list(right_backward(grad_y, cache))
    grads[2] = grads[2] / len(grad_y)
    return tuple(grads)

# %% bias-unreduced
# killed_by: biases
"""The gradient of a bias comes back with a row for each row of the batch. In the forward pass the
bias is broadcast over the rows; on the way back, what was broadcast is summed: sum(axis=0). A
gradient has the shape of what it belongs to."""

def _grad_bias(grad):
    return grad.copy()

# %% bias-unreduced / hidden
right_backward = backward

def backward(grad_y, cache):
    x, W1, W2, h, act = cache
    grad_x, grad_W1, _, grad_W2, grad_b2 = right_backward(grad_y, cache)
    grad_z = _through_activation(_to_input(grad_y, W2), h, act)
    return grad_x, grad_W1, grad_z, grad_W2, grad_b2

# %% bias-unreduced / output
right_backward = backward

def backward(grad_y, cache):
    *others, _ = right_backward(grad_y, cache)
    return *others, grad_y.copy()

# %% divided-again
# killed_by: weights
"""Your backward divides gradients by the number of rows. The 1 / B belongs to the loss and is in
grad_y already, so these gradients are B times too small; with one row they are right. Use grad_y as
it is."""

def _grad_weights(grad, entered):
    return grad.T @ entered / len(grad)

# %% divided-again / and-biases
def _grad_weights(grad, entered):
    return grad.T @ entered / len(grad)

def _grad_bias(grad):
    return grad.mean(axis=0)

# %% divided-again / at-once
right_backward = backward

def backward(grad_y, cache):
    return right_backward(grad_y / len(grad_y), cache)

# %% last-row
# killed_by: weights
"""The gradients of your weights hold the share of the last row only. Every row has used the same
weights, so the outer products of all rows add up; grad.T @ input does that in one product. Usually
this is a loop over the rows with = in place of +=."""

def _grad_weights(grad, entered):
    return np.outer(grad[-1], entered[-1])

# %% last-row / and-biases
def _grad_weights(grad, entered):
    return np.outer(grad[-1], entered[-1])

def _grad_bias(grad):
    return grad[-1].copy()

# %% slope-of-h
# killed_by: [sigmoid, differences]
"""Your slope of the sigmoid is s (1 - s) with s = sigmoid(h). But h is sigmoid(z) already, so the
slope is h (1 - h). Yours lies between 0.19 and 0.25 wherever z is; the right one goes to 0 where a
unit is saturated."""

right_slope = _slope

def _slope(h, act):
    if act == "relu":
        return right_slope(h, act)
    s = _activation(h, act)
    return s * (1 - s)

# %% slope-of-z
# killed_by: [sigmoid, differences]
"""Your slope of the sigmoid is z (1 - z). The formula s (1 - s) wants the value of the sigmoid for
s, so it is h (1 - h). Yours is negative wherever z is below 0 or above 1; a sigmoid never falls."""

right_slope = _slope

def forward(x, W1, b1, W2, b2, act):
    z = _linear(x, W1, b1)
    h = _activation(z, act)
    return _linear(h, W2, b2), (x, W1, W2, z, h, act)

def backward(grad_y, cache):
    x, W1, W2, z, h, act = cache
    slope = right_slope(h, act) if act == "relu" else z * (1 - z)
    grad_z = _to_input(grad_y, W2) * slope
    return (
        _to_input(grad_z, W1),
        _grad_weights(grad_z, x),
        _grad_bias(grad_z),
        _grad_weights(grad_y, h),
        _grad_bias(grad_y),
    )

# %% no-slope
# killed_by: sigmoid
"""The gradient passes through the activation unchanged, with a sigmoid at least, as if its slope
were 1. The gradient of z is that of h times act'(z), element by element: 0 or 1 for a ReLU, and h
(1 - h) for a sigmoid, at most 1/4. Usually the slope is missing, or the ReLU's mask, h > 0, serves
both: after a sigmoid h is always positive."""

def _slope(h, act):
    return np.ones_like(h)

# %% no-slope / for-sigmoid
def _slope(h, act):
    return h > 0

# %% x-without-slope
# killed_by: [weights, sigmoid]
"""Your gradient of x goes past the activation: it is that of h times W1. x enters through z, so
take the gradient of z, the one that W1 gets as well."""

right_backward = backward

def backward(grad_y, cache):
    x, W1, W2, h, act = cache
    return _to_input(_to_input(grad_y, W2), W1), *right_backward(grad_y, cache)[1:]

# %% gates-the-gradient
# killed_by: weights
"""On the way back you apply the ReLU to the gradient: negative gradients become 0, and positive
ones pass whatever z was. Backward multiplies by the slope at z, 1 where z was positive and 0
elsewhere, and leaves the sign alone."""

right_through = _through_activation

def _through_activation(grad_h, h, act):
    return np.maximum(grad_h, 0) if act == "relu" else right_through(grad_h, h, act)

# %% open-at-zero
# killed_by: zero
"""Your ReLU lets the gradient pass where z is exactly 0. The contract has a derivative of 0 there,
as torch.relu has. Usually this is >= where > belongs."""

right_backward = backward

def forward(x, W1, b1, W2, b2, act):
    z = _linear(x, W1, b1)
    h = _activation(z, act)
    return _linear(h, W2, b2), (x, W1, W2, h, act, z)

def backward(grad_y, cache):
    *cache, z = cache
    if cache[-1] != "relu":
        return right_backward(grad_y, cache)
    x, W1, W2, h, act = cache
    grad_z = _to_input(grad_y, W2) * (z >= 0)
    return (
        _to_input(grad_z, W1),
        _grad_weights(grad_z, x),
        _grad_bias(grad_z),
        _grad_weights(grad_y, h),
        _grad_bias(grad_y),
    )

# %% w2-untransposed
# killed_by: [weights, sigmoid]
"""Your gradient of h is grad_y times W2^T. Forward multiplies by W2^T, from m to o numbers; the way
back goes from o to m, by W2 as it is. Where o and m differ your product raises a ValueError, and
where they are equal it gives wrong numbers."""

def backward(grad_y, cache):
    x, W1, W2, h, act = cache
    grad_z = _through_activation(grad_y @ W2.T, h, act)
    return (
        _to_input(grad_z, W1),
        _grad_weights(grad_z, x),
        _grad_bias(grad_z),
        _grad_weights(grad_y, h),
        _grad_bias(grad_y),
    )

# %% w1-untransposed
# killed_by: [weights, sigmoid]
"""Your gradient of x is that of z times W1^T. Forward multiplies by W1^T, from d to m numbers; the
way back goes from m to d, by W1 as it is. Where d and m differ your product raises a ValueError,
and where they are equal it gives wrong numbers."""

def backward(grad_y, cache):
    x, W1, W2, h, act = cache
    grad_z = _through_activation(_to_input(grad_y, W2), h, act)
    return (
        grad_z @ W1.T,
        _grad_weights(grad_z, x),
        _grad_bias(grad_z),
        _grad_weights(grad_y, h),
        _grad_bias(grad_y),
    )

# %% weights-transposed
# killed_by: weights
"""The gradient of a matrix of weights comes back transposed, with inputs along its rows. W1 is (m,
d) and W2 (o, m): element [i, j] belongs to output i and input j, so it is grad.T @ input."""

def _grad_weights(grad, entered):
    return entered.T @ grad

# %% weights-transposed / w1
right_backward = backward

def backward(grad_y, cache):
    grads = list(right_backward(grad_y, cache))
    grads[1] = grads[1].T.copy()
    return tuple(grads)

# %% weights-transposed / w2
right_backward = backward

def backward(grad_y, cache):
    grads = list(right_backward(grad_y, cache))
    grads[3] = grads[3].T.copy()
    return tuple(grads)

# %% meets-z
# killed_by: [weights, sigmoid]
"""Your gradient of W2 is grad_y^T times z. In the forward pass W2 meets h, what came out of the
activation, and so does its gradient."""

def forward(x, W1, b1, W2, b2, act):
    z = _linear(x, W1, b1)
    h = _activation(z, act)
    return _linear(h, W2, b2), (x, W1, W2, z, h, act)

def backward(grad_y, cache):
    x, W1, W2, z, h, act = cache
    grad_z = _through_activation(_to_input(grad_y, W2), h, act)
    return (
        _to_input(grad_z, W1),
        _grad_weights(grad_z, x),
        _grad_bias(grad_z),
        _grad_weights(grad_y, z),
        _grad_bias(grad_y),
    )

# %% hidden-bias-forgotten
# killed_by: forward
"""b1 is not added: z is x W1^T. Without it every unit's edge passes through the origin."""

_with_both = forward

def forward(x, W1, b1, W2, b2, act):
    return _with_both(x, W1, np.zeros_like(b1), W2, b2, act)

# %% slope-is-h
# killed_by: sigmoid
"""Your slope of the sigmoid is h, its value. The slope is h (1 - h): where a unit is saturated at 1
it is next to 0, and yours is next to 1."""

def _slope(h, act):
    return h > 0 if act == "relu" else h

# %% weights-past-the-slope
# killed_by: [weights, sigmoid]
"""Your gradient of W1 goes past the activation: it is made of the gradient of h, not of z. W1 makes
z, so multiply by the slope first, as for b1."""

_all_gradients = backward

def backward(grad_y, cache):
    x, _, W2, _, _ = cache
    grad_x, _, grad_b1, grad_W2, grad_b2 = _all_gradients(grad_y, cache)
    return grad_x, _grad_weights(_to_input(grad_y, W2), x), grad_b1, grad_W2, grad_b2

# %% bias-of-one-row
# killed_by: biases
"""Your gradient of a bias is that of the first row alone. The bias is added to every row, so all of
them contribute: sum(axis=0)."""

def _grad_bias(grad):
    return grad[0].copy()

# %% gradient-gated-twice
# killed_by: weights
"""Behind a ReLU your gradient is 0 where z is not positive, which is right, and also where the
gradient itself is negative. That is guided backpropagation, a way to draw pictures. The chain rule
has the slope of z alone."""

_by_slope = _through_activation

def _through_activation(grad_h, h, act):
    grad_z = _by_slope(grad_h, h, act)
    return np.maximum(grad_z, 0) if act == "relu" else grad_z

# %% divides-by-all-rows
# killed_by: kept
"""With keep, you divide by the number of all rows, in the gradient at least. The mean runs over the
rows that count, so divide by how many of those there are. Otherwise a batch with few labels takes a
small step."""

right_error = half_squared_error

def half_squared_error(y, t, keep=None):
    loss, grad_y = right_error(y, t, keep)
    share = (len(y) if keep is None else _count(keep)) / len(y)
    return loss * share, grad_y * share

# %% divides-by-all-rows / in-gradient
right_error = half_squared_error

def half_squared_error(y, t, keep=None):
    loss, grad_y = right_error(y, t, keep)
    share = (len(y) if keep is None else _count(keep)) / len(y)
    return loss, grad_y * share

# %% gradient-not-masked
# killed_by: kept
"""Rows that do not count are missing in your loss, but not in grad_y. Where the loss does not
depend on a row of y, the gradient of that row is 0."""

right_error = half_squared_error

def half_squared_error(y, t, keep=None):
    loss, grad_y = right_error(y, t, keep)
    return loss, grad_y if keep is None else (y - t) / _count(keep)

# %% rows-dropped
# killed_by: kept
"""Your grad_y has only the rows that count. It is the gradient with respect to all of y, and the
cache of backward has all rows: put zeros into the others."""

right_error = half_squared_error

def half_squared_error(y, t, keep=None):
    loss, grad_y = right_error(y, t, keep)
    return loss, grad_y if keep is None else grad_y[keep]

# %% zero-times-nan
# killed_by: unlabeled
"""A row that does not count makes your loss NaN if its label is NaN or infinite. Usually such rows
are multiplied by 0, and 0 times NaN is NaN, as 0 times infinity is. Choose with np.where, or by
indexing, in place of multiplying."""

def _residual(y, t, rows):
    return (y - t) * rows[:, None]

# %% nothing-kept
# killed_by: nobody
"""Where no row counts you give NaN: a mean over nothing is 0 divided by 0. The contract asks for a
loss of 0 and a gradient of 0: divide by at least 1."""

def _count(rows):
    return rows.sum(dtype=float)

# %% nothing-kept / mean
right_error = half_squared_error

def half_squared_error(y, t, keep=None):
    loss, grad_y = right_error(y, t, keep)
    if keep is not None and not keep.any():
        loss = float("nan")
    return loss, grad_y

# %% keep-ignored
# killed_by: kept
"""Your loss does not look at keep: all rows count. Rows without a label have whatever stands in t.
"""

_kept_only = half_squared_error

def half_squared_error(y, t, keep=None):
    return _kept_only(y, t)

# %% keep-inverted
# killed_by: kept
"""The rows that count in your loss are those where keep is False. keep says which rows count; a
mask of what is to be left out is its opposite."""

_as_given = half_squared_error

def half_squared_error(y, t, keep=None):
    return _as_given(y, t, None if keep is None else ~keep)

# %% kept-sum
# killed_by: kept
"""With keep, your gradient is that of a sum: it is not divided by the number of rows that count.
The loss is their mean."""

_of_a_mean = half_squared_error

def half_squared_error(y, t, keep=None):
    loss, grad_y = _of_a_mean(y, t, keep)
    return loss, grad_y if keep is None else grad_y * _count(keep)

# %% float64-returned
# killed_by: single
"""With float32 arrays a result comes back as float64. The contract asks for the dtype of the
inputs. Usually an array such as np.where(z > 0, 1.0, 0.0), which is float64, has met them. A mask
of bool and a Python number leave float32 alone."""

right_slope = _slope

def _slope(h, act):
    return np.where(h > 0, 1.0, 0.0) if act == "relu" else right_slope(h, act)

# %% float64-returned / throughout
right_forward, right_backward, right_error = forward, backward, half_squared_error

def forward(x, W1, b1, W2, b2, act):
    return right_forward(*(a.astype(np.float64) for a in (x, W1, b1, W2, b2)), act)

# %% float64-from-a-count
# killed_by: single-kept
"""With float32 arrays and keep, grad_y comes back as float64. Usually it was divided by keep.sum(),
an integer of numpy's, and float32 divided by that is float64. int(keep.sum()) leaves float32 alone.
"""

right_error = half_squared_error

def half_squared_error(y, t, keep=None):
    if keep is None:
        return right_error(y, t)
    residual = _residual(y, t, keep)
    count = np.maximum(keep.sum(), 1)
    return _half_of_squares(residual) / count, residual / count

# %% exp-of-z
# killed_by: saturated
"""Your sigmoid is exp(z) / (1 + exp(z)), or computes the same: where z is large, exp overflows
(above 709 in float64, above 88 in float32), and infinity divided by infinity is NaN. 1 / (1 +
exp(-z)) has no such place."""

right_activation = _activation

def _activation(z, act):
    return right_activation(z, act) if act == "relu" else np.exp(z) / (1 + np.exp(z))

# %% cache-in-a-global
# killed_by: again
"""Your backward uses what the latest forward pass left, whichever cache it is given. As soon as two
networks are in flight, one of them gets the gradients of the other. Usually this is a global, or an
attribute of a function. Put all that backward needs into the cache."""

right_backward = backward
latest = None

def forward(x, W1, b1, W2, b2, act):
    global latest
    z = _linear(x, W1, b1)
    h = _activation(z, act)
    latest = x, W1, W2, z, h, act
    return _linear(h, W2, b2), None

def backward(grad_y, cache):
    x, W1, W2, _, h, act = latest
    return right_backward(grad_y, (x, W1, W2, h, act))

# %% cache-used-up
# killed_by: again
"""A second backward pass with the same cache does not find the h of the forward pass: the first has
overwritten it with the slope. Usually this is an operation in place, such as h *= 1 - h. Make a new
array."""

def backward(grad_y, cache):
    x, W1, W2, h, act = cache
    grad_W2 = _grad_weights(grad_y, h)
    slope = h > 0
    if act == "sigmoid":
        h *= 1 - h
        slope = h
    grad_z = _to_input(grad_y, W2) * slope
    return (
        _to_input(grad_z, W1),
        _grad_weights(grad_z, x),
        _grad_bias(grad_z),
        grad_W2,
        _grad_bias(grad_y),
    )

# %% residual-in-place
# killed_by: [forward, kept]
"""Your loss changes the y that it is given: the targets are subtracted from it in place. Whoever
looks at the output after the loss sees other numbers. Usually this is y -= t; write y - t, a new
array."""

right_error = half_squared_error

def half_squared_error(y, t, keep=None):
    loss, grad_y = right_error(y, t, keep)
    y -= t
    return loss, grad_y

# %% keeps-too-much
# killed_by: state
"""Your cache holds two numbers for each row and hidden unit. One is enough: with h the slope can be
computed again, h > 0 for a ReLU and h (1 - h) for a sigmoid."""

right_forward, right_backward = forward, backward

def forward(x, W1, b1, W2, b2, act):
    z = _linear(x, W1, b1)
    h = _activation(z, act)
    return _linear(h, W2, b2), (x, W1, W2, h, act, z)

def backward(grad_y, cache):
    return right_backward(grad_y, cache[:-1])

# %% keeps-too-much / slope
right_forward = forward

def forward(x, W1, b1, W2, b2, act):
    y, (x, W1, W2, h, act) = right_forward(x, W1, b1, W2, b2, act)
    return y, (x, W1, W2, h, (_slope(h, act) * 1.0).astype(h.dtype))

def backward(grad_y, cache):
    x, W1, W2, h, slope = cache
    grad_z = _to_input(grad_y, W2) * slope
    return (
        _to_input(grad_z, W1),
        _grad_weights(grad_z, x),
        _grad_bias(grad_z),
        _grad_weights(grad_y, h),
        _grad_bias(grad_y),
    )
