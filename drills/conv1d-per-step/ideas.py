# %% overwrite-last-step
# killed_by: filter
"""Your gradient of w is the last time step's alone. The same filter is used at every step, so the
gradient is the sum over all steps and all samples. Usually the contribution of a step is assigned
where it should be added. With one output step there is no difference."""

def _filter_gradient(grad_y, padded, kernel, stride):
    start = stride * (grad_y.shape[2] - 1)
    window = padded[:, :, start : start + kernel]
    return np.einsum("no,nck->ock", grad_y[:, :, -1], window)

def _bias_gradient(grad_y):
    return grad_y[:, :, -1].sum(axis=0)

# %% overwrite-last-step / filter
def _filter_gradient(grad_y, padded, kernel, stride):
    start = stride * (grad_y.shape[2] - 1)
    window = padded[:, :, start : start + kernel]
    return np.einsum("no,nck->ock", grad_y[:, :, -1], window)

# %% overwrite-last-step / aside
right_backward = conv1d_backward

def conv1d_backward(grad_y, cache):
    x, w, stride, padding = cache
    start = stride * (grad_y.shape[2] - 1)
    window = _padded(x, padding)[:, :, start : start + w.shape[2]]
    last = grad_y[:, :, -1]
    return right_backward(grad_y, cache)[0], np.einsum("no,nck->ock", last, window), last.sum(axis=0)

def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    _, grad_w, grad_b = right_backward((2.0 / residual.size) * residual, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.mean(residual**2))

# %% per-step-update
# killed_by: sgd
"""Your train_step moves the weights after every output step, and the next step's error is computed
with the moved weights. For a lone filter that is a method of its own (LMS) and converges. It is not
the step that was asked for: it differs by an amount proportional to lr, it depends on the order of
the steps, and it cannot be had in a deep network, under Adam, or when gradients of several devices
are averaged, all of which need the gradient of the whole batch first. Collect over all steps, then
update once."""

def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, _ = conv1d_forward(x, w, b, stride, padding)
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    w, b = w.copy(), b.copy()
    for t in range(target.shape[2]):
        window = padded[:, :, t * stride : t * stride + w.shape[2]]
        error = np.tensordot(window, w, ((1, 2), (1, 2))) + b - target[:, :, t]
        grad = (2.0 / target.size) * error
        w -= lr * np.tensordot(grad, window, (0, 0))
        b -= lr * grad.sum(axis=0)
    return w, b, float(np.mean((y - target) ** 2))

# %% per-step-update / running-loss
def train_step(w, b, x, target, lr, stride=1, padding=0):
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    w, b, total = w.copy(), b.copy(), 0.0
    for t in range(target.shape[2]):
        window = padded[:, :, t * stride : t * stride + w.shape[2]]
        error = np.tensordot(window, w, ((1, 2), (1, 2))) + b - target[:, :, t]
        total += float(np.sum(error**2))
        grad = (2.0 / target.size) * error
        w -= lr * np.tensordot(grad, window, (0, 0))
        b -= lr * grad.sum(axis=0)
    return w, b, total / target.size

# %% per-step-update / step-mean
def train_step(w, b, x, target, lr, stride=1, padding=0):
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    w, b, total = w.copy(), b.copy(), 0.0
    for t in range(target.shape[2]):
        window = padded[:, :, t * stride : t * stride + w.shape[2]]
        error = np.tensordot(window, w, ((1, 2), (1, 2))) + b - target[:, :, t]
        total += float(np.sum(error**2))
        grad = (2.0 / error.size) * error
        w -= lr * np.tensordot(grad, window, (0, 0))
        b -= lr * grad.sum(axis=0)
    return w, b, total / target.size

# %% per-sample-update
# killed_by: sgd
"""Your train_step updates after every sample. The loss is a mean over the batch, so all its samples
are seen by the same weights. Collect, then update once."""

def train_step(w, b, x, target, lr, stride=1, padding=0):
    total = 0.0
    for one, wanted in zip(x, target, strict=True):
        y, cache = conv1d_forward(one[None], w, b, stride, padding)
        residual = y - wanted
        total += float(np.sum(residual**2))
        _, grad_w, grad_b = conv1d_backward((2.0 / target.size) * residual, cache)
        w, b = w - lr * grad_w, b - lr * grad_b
    return w, b, total / target.size

# %% per-sample-update / sample-mean
def train_step(w, b, x, target, lr, stride=1, padding=0):
    total = 0.0
    for one, wanted in zip(x, target, strict=True):
        y, cache = conv1d_forward(one[None], w, b, stride, padding)
        residual = y - wanted
        total += float(np.sum(residual**2))
        _, grad_w, grad_b = conv1d_backward((2.0 / residual.size) * residual, cache)
        w, b = w - lr * grad_w, b - lr * grad_b
    return w, b, total / target.size

# %% mean-over-positions
# killed_by: filter
"""Your gradient is the right one divided by the number of output steps T. The chain rule adds the
uses of a weight and divides by nothing; an average in the loss is already in grad_y. SGD then takes
steps T times too short; Adam would hide it."""

_summed_filter, _summed_bias = _filter_gradient, _bias_gradient

def _filter_gradient(grad_y, padded, kernel, stride):
    return _summed_filter(grad_y, padded, kernel, stride) / grad_y.shape[2]

def _bias_gradient(grad_y):
    return _summed_bias(grad_y) / grad_y.shape[2]

# %% mean-over-positions / filter
_summed_filter = _filter_gradient

def _filter_gradient(grad_y, padded, kernel, stride):
    return _summed_filter(grad_y, padded, kernel, stride) / grad_y.shape[2]

# %% mean-over-batch
# killed_by: filter
"""Your gradient is the right one divided by the batch size N. The chain rule adds the uses of a
weight and divides by nothing; an average in the loss is already in grad_y. SGD then takes steps N
times too short; Adam would hide it."""

_summed_filter, _summed_bias = _filter_gradient, _bias_gradient

def _filter_gradient(grad_y, padded, kernel, stride):
    return _summed_filter(grad_y, padded, kernel, stride) / max(len(grad_y), 1)

def _bias_gradient(grad_y):
    return _summed_bias(grad_y) / max(len(grad_y), 1)

# %% mean-over-batch / filter
_summed_filter = _filter_gradient

def _filter_gradient(grad_y, padded, kernel, stride):
    return _summed_filter(grad_y, padded, kernel, stride) / max(len(grad_y), 1)

# %% mean-over-both
# killed_by: filter
"""grad_w and grad_b are the sums divided by N times T, means over samples and steps. The chain rule
gives the sum over all the places where a weight is used. The loss decides about averaging, and what
it decided is already in grad_y. Use a sum where there is a mean."""

_summed_filter, _summed_bias = _filter_gradient, _bias_gradient

def _filter_gradient(grad_y, padded, kernel, stride):
    return _summed_filter(grad_y, padded, kernel, stride) / _uses(grad_y)

def _bias_gradient(grad_y):
    return _summed_bias(grad_y) / _uses(grad_y)

def _uses(grad_y):
    return max(grad_y.shape[0] * grad_y.shape[2], 1)

# %% last-sample-only
# killed_by: filter
"""Only the last sample of the batch reaches grad_w. The filter is shared over the batch as well as
over time, so its gradient is the sum over all samples and all steps. Usually each sample's
contribution replaces the one before it: add it instead."""

_summed_filter, _summed_bias = _filter_gradient, _bias_gradient

def _filter_gradient(grad_y, padded, kernel, stride):
    return _summed_filter(grad_y[-1:], padded[-1:], kernel, stride)

def _bias_gradient(grad_y):
    return _summed_bias(grad_y[-1:])

# %% last-sample-only / filter
_summed_filter = _filter_gradient

def _filter_gradient(grad_y, padded, kernel, stride):
    return _summed_filter(grad_y[-1:], padded[-1:], kernel, stride)

# %% unreduced-per-step
# killed_by: filter
"""Your gradient has one axis more than its parameter, of length T. A gradient has the shape of its
parameter: sum over that axis. Mind the update, where broadcasting would turn it into T copies of
the weights without a word."""

def _filter_gradient(grad_y, padded, kernel, stride):
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=2)[:, :, ::stride]
    windows = windows[:, :, : grad_y.shape[2]]
    return np.einsum("not,nctk->tock", grad_y, windows, optimize=True)

# %% unreduced-per-step / both
def _filter_gradient(grad_y, padded, kernel, stride):
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=2)[:, :, ::stride]
    windows = windows[:, :, : grad_y.shape[2]]
    return np.einsum("not,nctk->tock", grad_y, windows, optimize=True)

def _bias_gradient(grad_y):
    return grad_y.sum(axis=0).T.copy()

# %% kernel-flipped-gw
# killed_by: filter
"""Along the K taps, grad_w comes out mirrored. The forward pass is a cross-correlation: tap k meets
the padded input at t * stride + k, so grad_w[o, c, k] pairs grad_y[n, o, t] with the padded input
at t * stride + k, and nothing is reversed. With the mirrored gradient, training moves the taps
against one another. Usually this is [::-1] or np.convolve, as for the convolution of a textbook."""

_straight = _filter_gradient

def _filter_gradient(grad_y, padded, kernel, stride):
    return _straight(grad_y, padded, kernel, stride)[:, :, ::-1].copy()

# %% kernel-flipped-gx
# killed_by: input
"""grad_x is what a mirrored filter would send back. In the forward pass tap k reads the padded
input at t * stride + k, so in the backward pass w[o, c, k] * grad_y[n, o, t] goes back to that same
place. Usually the mirrored filter, which belongs in the form that slides over a padded grad_y, was
used in a scatter, which keeps the filter as it is."""

_straight = _input_gradient

def _input_gradient(grad_y, w, padded_shape, stride):
    return _straight(grad_y, w[:, :, ::-1], padded_shape, stride)

# %% gx-overwrite-overlap
# killed_by: input
"""Where windows overlap, grad_x keeps one contribution and loses the others. An input that is in
several windows influences several outputs, and its gradient is the sum over them. This shows only
when K is greater than the stride. Usually = stands where += belongs; and += with an index array
that repeats a position adds only once in numpy."""

def _input_gradient(grad_y, w, padded_shape, stride):
    per_step = np.einsum("not,ock->tnck", grad_y, w, optimize=True)
    grad_padded = np.zeros(padded_shape, dtype=grad_y.dtype)
    for t, window in enumerate(per_step):
        grad_padded[:, :, t * stride : t * stride + w.shape[2]] = window
    return grad_padded

# %% gx-overwrite-overlap / taps
def _input_gradient(grad_y, w, padded_shape, stride):
    per_tap = np.einsum("not,ock->knct", grad_y, w, optimize=True)
    reach = stride * (grad_y.shape[2] - 1) + 1
    grad_padded = np.zeros(padded_shape, dtype=grad_y.dtype)
    for k, positions in enumerate(per_tap):
        grad_padded[:, :, k : k + reach : stride] = positions
    return grad_padded

# %% margin-minus-zero
# killed_by: input
"""Where the padding is 0, grad_x comes back empty, of length 0. Usually the margins are cut off
with [padding:-padding], which is [0:0] for a padding of 0. Write [padding:padding + L] instead."""

def conv1d_backward(grad_y, cache):
    x, w, stride, padding = cache
    padded = _padded(x, padding)
    grad_padded = _input_gradient(grad_y, w, padded.shape, stride)
    grad_x = grad_padded[:, :, padding:-padding].copy()
    return grad_x, _filter_gradient(grad_y, padded, w.shape[2], stride), _bias_gradient(grad_y)

# %% margins-kept
# killed_by: stride
"""grad_x is still in the frame of the padded input: entry i of x stands at i + padding there.
Either the margins are still in it, or it begins at 0 and is shifted. Cut the L entries from padding
to padding + L out of it."""

def conv1d_backward(grad_y, cache):
    x, w, stride, padding = cache
    padded = _padded(x, padding)
    grad_padded = _input_gradient(grad_y, w, padded.shape, stride)
    grad_x = grad_padded
    return grad_x, _filter_gradient(grad_y, padded, w.shape[2], stride), _bias_gradient(grad_y)

# %% margins-kept / margin-cut-at-the-end
def conv1d_backward(grad_y, cache):
    x, w, stride, padding = cache
    padded = _padded(x, padding)
    grad_padded = _input_gradient(grad_y, w, padded.shape, stride)
    grad_x = grad_padded[:, :, : x.shape[2]].copy()
    return grad_x, _filter_gradient(grad_y, padded, w.shape[2], stride), _bias_gradient(grad_y)

# %% stride-ignored-gw
# killed_by: stride
"""grad_w pairs output step t with the window that begins at t. The forward pass read the window
that begins at t * stride, so the gradient has to read that one too. With a stride of 1 the two are
the same, which hides the mistake."""

_strided = _filter_gradient

def _filter_gradient(grad_y, padded, kernel, stride):
    return _strided(grad_y, padded, kernel, 1)

# %% stride-ignored-gx
# killed_by: stride
"""grad_x has the gradient of output step t in the window that begins at t. The forward pass read
the window that begins at t * stride, so the gradient has to go back there, and inputs between two
windows get exactly 0. With a stride of 1 the two are the same, which hides the mistake."""

_strided = _input_gradient

def _input_gradient(grad_y, w, padded_shape, stride):
    return _strided(grad_y, w, padded_shape, 1)

# %% forward-ignores-stride
# killed_by: forward
"""In the forward pass window t begins at t, whatever the stride is. It begins at t * stride: with a
stride of 2 every second window is left out, and so is its output."""

def conv1d_forward(x, w, b, stride=1, padding=0):
    padded = _padded(x, padding)
    steps = (padded.shape[2] - w.shape[2]) // stride + 1
    y = _correlate(padded, w, 1)[:, :, :steps] + b[:, None]
    return y, (x, w, stride, padding)

# %% forward-ignores-stride / throughout
def conv1d_forward(x, w, b, stride=1, padding=0):
    padded = _padded(x, padding)
    steps = (padded.shape[2] - w.shape[2]) // stride + 1
    y = _correlate(padded, w, 1)[:, :, :steps] + b[:, None]
    return y, (x, w, 1, padding)

# %% forward-ignores-stride / dense
def conv1d_forward(x, w, b, stride=1, padding=0):
    return _correlate(_padded(x, padding), w, 1) + b[:, None], (x, w, stride, padding)

# %% output-size-rounded-up
# killed_by: forward
"""Inputs left over at the end get an output step of their own, filled up with zeros. The contract
rounds the number of steps down: T = (L + 2 * padding - K) // stride + 1, and what is left over
takes no part. Where backward waits for a gradient of that step as well, it raises a ValueError."""

def conv1d_forward(x, w, b, stride=1, padding=0):
    more = -(x.shape[2] + 2 * padding - w.shape[2]) % stride
    longer = np.pad(x, ((0, 0), (0, 0), (padding, padding + more)))
    return _correlate(longer, w, stride) + b[:, None], (x, w, stride, padding)

# %% output-size-rounded-up / throughout
right_backward = conv1d_backward

def conv1d_forward(x, w, b, stride=1, padding=0):
    more = -(x.shape[2] + 2 * padding - w.shape[2]) % stride
    longer = np.pad(x, ((0, 0), (0, 0), (padding, padding + more)))
    y = _correlate(longer, w, stride) + b[:, None]
    return y, (y.shape[2], (x, w, stride, padding))

def conv1d_backward(grad_y, cache):
    steps, cache = cache
    if grad_y.shape[2] != steps:
        raise ValueError("grad_y and the windows of the forward pass differ in number")
    return right_backward(grad_y, cache)

# %% true-convolution
# killed_by: forward
"""The filter is mirrored before it slides over the input. That is the convolution of a textbook on
signals; deep-learning libraries compute the cross-correlation, y[t] = sum over k of w[k] x[t *
stride + k], and so does this contract. With learned weights the two are equally expressive, but
weights trained with one give nonsense under the other. Usually this is np.convolve, which mirrors;
np.correlate does not."""

right_forward, right_backward = conv1d_forward, conv1d_backward

def conv1d_forward(x, w, b, stride=1, padding=0):
    return right_forward(x, w[:, :, ::-1], b, stride, padding)

def conv1d_backward(grad_y, cache):
    grad_x, grad_w, grad_b = right_backward(grad_y, cache)
    return grad_x, grad_w[:, :, ::-1].copy(), grad_b

# %% true-convolution / forward
right_forward = conv1d_forward

def conv1d_forward(x, w, b, stride=1, padding=0):
    y, _ = right_forward(x, w[:, :, ::-1], b, stride, padding)
    return y, right_forward(x, w, b, stride, padding)[1]

# %% bias-last-step
# killed_by: bias
"""Your grad_b is that of the last output step. The bias is added at every step of every sample: sum
grad_y over batch and time. Usually it is assigned in a loop over t, where += belongs."""

def _bias_gradient(grad_y):
    return grad_y[:, :, -1].sum(axis=0)

# %% bias-averaged
# killed_by: bias
"""Your grad_b is a mean where the sum belongs. The bias is used at every output step of every
sample, and the chain rule adds those uses up."""

_summed_bias = _bias_gradient

def _bias_gradient(grad_y):
    return _summed_bias(grad_y) / grad_y.shape[2]

# %% bias-averaged / over-batch
_summed_bias = _bias_gradient

def _bias_gradient(grad_y):
    return _summed_bias(grad_y) / max(len(grad_y), 1)

# %% bias-averaged / over-both
_summed_bias = _bias_gradient

def _bias_gradient(grad_y):
    return _summed_bias(grad_y) / max(grad_y.shape[0] * grad_y.shape[2], 1)

# %% bias-keepdims
# killed_by: bias
"""Your grad_b has axes of length 1 left, usually from keepdims=True. Its shape is that of b,
(Cout,); in an update b - lr * g the extra axes would grow b."""

def _bias_gradient(grad_y):
    return grad_y.sum(axis=(0, 2), keepdims=True)

# %% no-mean
# killed_by: sgd
"""The step of train_step is that of the sum of the squared errors, N * Cout * T times too long. The
loss is their mean, so its derivative with respect to y is 2 * (y - target) / y.size. The learning
rate would otherwise depend on the length of the sequences."""

def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    _, grad_w, grad_b = conv1d_backward(2.0 * residual, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.mean(residual**2))

# %% no-mean / throughout
def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    _, grad_w, grad_b = conv1d_backward(2.0 * residual, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.sum(residual**2))

# %% mean-over-samples-only
# killed_by: sgd
"""train_step divides the squared errors by the number of samples N only, so its step is Cout * T
times too long. The mean is taken over all elements of y, N * Cout * T of them: divide by y.size."""

def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    count = len(residual)
    _, grad_w, grad_b = conv1d_backward((2.0 / count) * residual, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.mean(residual**2))

# %% mean-over-samples-only / throughout
def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    count = len(residual)
    _, grad_w, grad_b = conv1d_backward((2.0 / count) * residual, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.sum(residual**2) / count)

# %% mean-over-steps-only
# killed_by: sgd
"""train_step divides the squared errors by the number of output steps T only, so its step is N *
Cout times too long. The mean is taken over all elements of y, N * Cout * T of them: divide by
y.size."""

def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    count = residual.shape[2]
    _, grad_w, grad_b = conv1d_backward((2.0 / count) * residual, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.mean(residual**2))

# %% mean-over-steps-only / throughout
def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    count = residual.shape[2]
    _, grad_w, grad_b = conv1d_backward((2.0 / count) * residual, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.sum(residual**2) / count)

# %% mean-without-channels
# killed_by: sgd
"""train_step divides the squared errors by N * T and not by the number of output channels, so its
step is Cout times too long. The mean is taken over all elements of y, N * Cout * T of them: divide
by y.size."""

def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    count = residual.shape[0] * residual.shape[2]
    _, grad_w, grad_b = conv1d_backward((2.0 / count) * residual, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.mean(residual**2))

# %% mean-without-channels / throughout
def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    count = residual.shape[0] * residual.shape[2]
    _, grad_w, grad_b = conv1d_backward((2.0 / count) * residual, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.sum(residual**2) / count)

# %% half-the-loss
# killed_by: sgd
"""A factor 2 is missing in train_step, in the step, in the loss, or in both. The loss is the mean
of (y - target)**2, whose derivative is 2 * (y - target) / y.size. Usually 1/2 * error**2 was meant,
the loss of many textbooks, which cancels the 2; this contract has no 1/2."""

def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    _, grad_w, grad_b = conv1d_backward(residual / residual.size, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.mean(residual**2))

# %% half-the-loss / half-the-loss
def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    _, grad_w, grad_b = conv1d_backward(residual / residual.size, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.mean(residual**2)) / 2

# %% half-the-loss / alone
right_step = train_step

def train_step(w, b, x, target, lr, stride=1, padding=0):
    w_new, b_new, loss = right_step(w, b, x, target, lr, stride, padding)
    return w_new, b_new, loss / 2

# %% goes-uphill
# killed_by: sgd
"""Your step goes uphill: it is the right one with its sign turned. The update is w - lr * grad_w
with the gradient of (y - target) squared; usually target - y was differentiated without its minus.
"""

right_step = train_step

def train_step(w, b, x, target, lr, stride=1, padding=0):
    return right_step(w, b, x, target, -lr, stride, padding)

# %% loss-after-the-step
# killed_by: sgd
"""The loss you return belongs to the new weights. It is the loss before the step."""

right_step = train_step

def train_step(w, b, x, target, lr, stride=1, padding=0):
    w_new, b_new, _ = right_step(w, b, x, target, lr, stride, padding)
    y, _ = conv1d_forward(x, w_new, b_new, stride, padding)
    return w_new, b_new, float(np.mean((y - target) ** 2))

# %% loss-summed
# killed_by: sgd
"""You return the sum of the squared errors, not their mean."""

right_step = train_step

def train_step(w, b, x, target, lr, stride=1, padding=0):
    w_new, b_new, loss = right_step(w, b, x, target, lr, stride, padding)
    return w_new, b_new, loss * target.size

# %% updates-in-place
# killed_by: sgd
"""train_step changes the caller's own w and b. Whoever still holds the old weights (a target
network, an average of weights, a second call for comparison) finds them changed. Usually this is w
-= lr * grad_w; return w - lr * grad_w, a new array."""

def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    _, grad_w, grad_b = conv1d_backward((2.0 / residual.size) * residual, cache)
    loss = float(np.mean(residual**2))
    w -= lr * grad_w
    b -= lr * grad_b
    return w, b, loss

# %% bias-forgotten
# killed_by: forward
"""The bias is not in y: your output is the cross-correlation alone. b[o] is added at every output
step of channel o."""

right_forward = conv1d_forward

def conv1d_forward(x, w, b, stride=1, padding=0):
    return right_forward(x, w, np.zeros_like(b), stride, padding)

# %% bias-not-updated
# killed_by: sgd
"""train_step returns the bias as it was. Both w and b take a step of lr times their gradients."""

right_step = train_step

def train_step(w, b, x, target, lr, stride=1, padding=0):
    w_new, _, loss = right_step(w, b, x, target, lr, stride, padding)
    return w_new, b.copy(), loss

# %% overlap-averaged
# killed_by: input
"""An input that is in several windows gets the mean of what they send back. It moves several
outputs, so the chain rule gives the sum."""

right_input_gradient = _input_gradient

def _input_gradient(grad_y, w, padded_shape, stride):
    grad_padded = right_input_gradient(grad_y, w, padded_shape, stride)
    covered = np.zeros(padded_shape[2], dtype=grad_y.dtype)
    for t in range(grad_y.shape[2]):
        covered[t * stride : t * stride + w.shape[2]] += 1.0
    return grad_padded / np.maximum(covered, 1.0)

# %% last-step-lost
# killed_by: [filter, bias, input]
"""Your backward pass leaves the last output step out. Usually a loop over the steps ends one too
early: there are T of them, from 0 to T - 1."""

right_backward = conv1d_backward

def conv1d_backward(grad_y, cache):
    steps = grad_y.shape[2]
    seen = grad_y.copy()
    seen[:, :, max(steps - 1, 1) :] = 0.0
    return right_backward(seen, cache)

# %% unreduced-per-sample
# killed_by: filter
"""Your gradient has one axis more than its parameter, of length N. The filter is shared by all
samples, so its gradient is the sum over them."""

def _filter_gradient(grad_y, padded, kernel, stride):
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=2)[:, :, ::stride]
    windows = windows[:, :, : grad_y.shape[2]]
    return np.einsum("not,nctk->nock", grad_y, windows, optimize=True)

# %% unreduced-per-sample / both
def _filter_gradient(grad_y, padded, kernel, stride):
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=2)[:, :, ::stride]
    windows = windows[:, :, : grad_y.shape[2]]
    return np.einsum("not,nctk->nock", grad_y, windows, optimize=True)

def _bias_gradient(grad_y):
    return grad_y.sum(axis=2)

# %% margin-of-grad-negative
# killed_by: edges
"""Where the padding is K or more, your backward pass raises a ValueError. Usually grad_x is a
correlation of grad_y with K - 1 - padding zeros at each end, a number that is negative then.
Scatter into the padded frame and cut L entries out of it, or cut grad_y where the number is
negative."""

right_backward = conv1d_backward

def conv1d_backward(grad_y, cache):
    x, w, stride, padding = cache
    reach = stride * (grad_y.shape[2] - 1) + 1
    spread = np.zeros((*grad_y.shape[:2], reach), dtype=grad_y.dtype)
    spread[:, :, ::stride] = grad_y
    margin = w.shape[2] - 1 - padding
    left_over = x.shape[2] + 2 * padding - w.shape[2] + 1 - reach
    wide = np.pad(spread, ((0, 0), (0, 0), (margin, margin + left_over)))
    grad_x = _correlate(wide, w[:, :, ::-1].transpose(1, 0, 2), 1)
    return grad_x, *right_backward(grad_y, cache)[1:]

# %% same-by-default
# killed_by: defaults
"""Where no padding is given, your forward pass puts half a filter of zeros at each end. The default
of the contract is 0, as in torch.nn.Conv1d."""

right_forward = conv1d_forward

def conv1d_forward(x, w, b, stride=1, padding=None):
    return right_forward(x, w, b, stride, w.shape[2] // 2 if padding is None else padding)

# %% momentum
# killed_by: learning
"""train_step goes on with nine tenths of its last move when it is called with the weights that it
returned. That is SGD with momentum 0.9, and it has a state that the caller cannot see; plain SGD
has none. A single call is right, and 60 of them in a row are not. Usually this is a velocity kept
outside the function."""

right_step, last = train_step, {}

def train_step(w, b, x, target, lr, stride=1, padding=0):
    w_new, b_new, loss = right_step(w, b, x, target, lr, stride, padding)
    if w is last.get("w"):
        w_new, b_new = w_new + 0.9 * last["move_w"], b_new + 0.9 * last["move_b"]
    last.update(w=w_new, move_w=w_new - w, move_b=b_new - b)
    return w_new, b_new, loss

# %% float64-returned
# killed_by: single-precision
"""With float32 arrays a result comes back as float64. The contract asks for the dtype of the
inputs. Usually the array was made with np.zeros(shape), which is float64 unless a dtype is given:
write np.zeros(shape, dtype=x.dtype), or np.zeros_like(x). Once one float64 array is in the loop,
numpy makes all that it touches float64."""

right_forward, right_backward = conv1d_forward, conv1d_backward

def conv1d_forward(x, w, b, stride=1, padding=0):
    y, cache = right_forward(x, w, b, stride, padding)
    return y.astype(np.float64), cache

def conv1d_backward(grad_y, cache):
    grad_x, grad_w, grad_b = right_backward(grad_y, cache)
    grad_x = grad_x.astype(np.float64)
    grad_w = grad_w.astype(np.float64)
    grad_b = grad_b.astype(np.float64)
    return grad_x, grad_w, grad_b

# %% float64-returned / gradients
right_backward = conv1d_backward

def conv1d_backward(grad_y, cache):
    grad_x, grad_w, grad_b = right_backward(grad_y, cache)
    grad_x = grad_x.astype(np.float64)
    grad_w = grad_w.astype(np.float64)
    grad_b = grad_b.astype(np.float64)
    return grad_x, grad_w, grad_b

# %% float64-returned / input
right_backward = conv1d_backward

def conv1d_backward(grad_y, cache):
    grad_x, grad_w, grad_b = right_backward(grad_y, cache)
    grad_x = grad_x.astype(np.float64)
    return grad_x, grad_w, grad_b

# %% float64-returned / weights
right_backward = conv1d_backward

def conv1d_backward(grad_y, cache):
    grad_x, grad_w, grad_b = right_backward(grad_y, cache)
    grad_w = grad_w.astype(np.float64)
    grad_b = grad_b.astype(np.float64)
    return grad_x, grad_w, grad_b

# %% float64-returned / output
right_forward = conv1d_forward

def conv1d_forward(x, w, b, stride=1, padding=0):
    y, cache = right_forward(x, w, b, stride, padding)
    return y.astype(np.float64), cache

# %% float64-returned / two
right_forward, right_backward = conv1d_forward, conv1d_backward

def conv1d_forward(x, w, b, stride=1, padding=0):
    y, cache = right_forward(x, w, b, stride, padding)
    return y.astype(np.float64), cache

def conv1d_backward(grad_y, cache):
    grad_x, grad_w, grad_b = right_backward(grad_y, cache)
    return grad_x.astype(np.float64), grad_w, grad_b

# %% step-in-float64
# killed_by: sgd-edges
"""With float32 arrays your train_step returns float64 weights. Usually a float64 number of numpy
stands in it, as in 2 / np.prod(y.shape), and makes all that it multiplies float64. A Python number,
as in 2 / y.size, does not."""

def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    _, grad_w, grad_b = conv1d_backward(np.float64(2.0 / residual.size) * residual, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.mean(residual**2))

# %% empty-batch-raises
# killed_by: empty-batch
"""With an empty batch (N = 0) your code raises a ValueError. The contract allows it: y and grad_x
are then empty, grad_w and grad_b zeros. If you do not raise it on purpose, it is usually a reshape
with -1, which numpy refuses beside a side of 0 because the missing size could be any number; write
the size out."""

right_backward = conv1d_backward

def conv1d_backward(grad_y, cache):
    grad_y.reshape(grad_y.shape[0], -1)
    return right_backward(grad_y, cache)

# %% cache-in-a-global
# killed_by: once-more
"""Your backward uses what the latest forward pass left, whichever cache it is given. As soon as two
layers, or two micro-batches, are in flight, one of them gets the gradients of the other. Usually
this is a global, or an attribute of a function or a class. Put everything that backward needs into
the cache that forward returns."""

right_forward, right_backward = conv1d_forward, conv1d_backward
latest = None

def conv1d_forward(x, w, b, stride=1, padding=0):
    global latest
    y, latest = right_forward(x, w, b, stride, padding)
    return y, {}

def conv1d_backward(grad_y, cache):
    return right_backward(grad_y, latest)

# %% gradients-accumulate
# killed_by: once-more
"""A second backward pass on one cache returns its gradients plus those of the first. Each call
returns the gradients for the grad_y it is given; adding up over calls is the caller's business, as
zero_grad reminds us. Usually the arrays are made once and += adds to what an earlier call left:
make them anew in each call."""

right_forward, right_backward = conv1d_forward, conv1d_backward

def conv1d_forward(x, w, b, stride=1, padding=0):
    y, cache = right_forward(x, w, b, stride, padding)
    return y, {"forward": cache, "sums": None}

def conv1d_backward(grad_y, cache):
    grads = right_backward(grad_y, cache["forward"])
    if cache["sums"] is not None:
        grads = tuple(new + old for new, old in zip(grads, cache["sums"], strict=True))
    cache["sums"] = tuple(grad.copy() for grad in grads)
    return grads

# %% gradients-accumulate / weights
right_forward, right_backward = conv1d_forward, conv1d_backward

def conv1d_forward(x, w, b, stride=1, padding=0):
    y, cache = right_forward(x, w, b, stride, padding)
    return y, {"forward": cache, "sums": None}

def conv1d_backward(grad_y, cache):
    grad_x, *grads = right_backward(grad_y, cache["forward"])
    if cache["sums"] is not None:
        grads = [new + old for new, old in zip(grads, cache["sums"], strict=True)]
    cache["sums"] = [grad.copy() for grad in grads]
    return grad_x, *grads

# %% keeps-the-windows
# killed_by: state
"""Your cache holds every window by itself: with stride 1 that is K times the input. The windows are
slices of x and can be taken again for nothing."""

right_forward = conv1d_forward

def conv1d_forward(x, w, b, stride=1, padding=0):
    y, cache = right_forward(x, w, b, stride, padding)
    windows = np.lib.stride_tricks.sliding_window_view(_padded(x, padding), w.shape[2], axis=2)
    return y, (windows[:, :, ::stride].copy(), cache[1:], x.shape)

def conv1d_backward(grad_y, cache):
    windows, (w, stride, padding), shape = cache
    grad_w = np.einsum("not,nctk->ock", grad_y, windows, optimize=True)
    padded = (*shape[:2], shape[2] + 2 * padding)
    grad_x = _input_gradient(grad_y, w, padded, stride)[:, :, padding : padding + shape[2]].copy()
    return grad_x, grad_w, _bias_gradient(grad_y)

# %% keeps-the-windows / as-columns
right_forward = conv1d_forward

def conv1d_forward(x, w, b, stride=1, padding=0):
    y, cache = right_forward(x, w, b, stride, padding)
    windows = np.lib.stride_tricks.sliding_window_view(_padded(x, padding), w.shape[2], axis=2)
    return y, (np.ascontiguousarray(windows[:, :, ::stride].swapaxes(1, 2)), cache[1:], x.shape)

def conv1d_backward(grad_y, cache):
    windows, (w, stride, padding), shape = cache
    grad_w = np.einsum("not,ntck->ock", grad_y, windows, optimize=True)
    padded = (*shape[:2], shape[2] + 2 * padding)
    grad_x = _input_gradient(grad_y, w, padded, stride)[:, :, padding : padding + shape[2]].copy()
    return grad_x, grad_w, _bias_gradient(grad_y)

# %% block-replaces-block
# killed_by: long
"""Your backward pass goes through long inputs in blocks of output steps, and each block overwrites
what the one before has left at the inputs that both of them see. The windows at the border of two
blocks overlap as all others do: add what a block sends back."""

right_input_gradient = _input_gradient

def _input_gradient(grad_y, w, padded_shape, stride):
    grad_padded = np.zeros(padded_shape, dtype=grad_y.dtype)
    for begin in range(0, grad_y.shape[2], 512):
        block = grad_y[:, :, begin : begin + 512]
        reach = stride * (block.shape[2] - 1) + w.shape[2]
        own = right_input_gradient(block, w, (*padded_shape[:2], reach), stride)
        grad_padded[:, :, begin * stride : begin * stride + reach] = own
    return grad_padded
