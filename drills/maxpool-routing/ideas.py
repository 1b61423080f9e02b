# %% stride-is-kernel
# killed_by: gaps
"""Your gradients stand where they would if windows started kernel entries apart. That is true only
when the stride equals the kernel. Window (i, j) starts at (i * stride - padding, j * stride -
padding): carry the stride to the backward pass."""

def maxpool2d_backward(grad_y, ctx):
    (n, c, height, width), kernel, padding = ctx.shape, ctx.kernel, ctx.padding
    down, across = grad_y.shape[2:]
    rows = np.maximum(kernel * np.arange(down)[:, None] + ctx.winner // kernel, padding)
    columns = np.maximum(kernel * np.arange(across) + ctx.winner % kernel, padding)
    # What lands beyond the plane is cut off.
    frame_height = max(height + 2 * padding, kernel * down)
    frame_width = max(width + 2 * padding, kernel * across)
    frame = np.zeros((n, c, frame_height, frame_width), ctx.dtype)
    image, channel = np.ogrid[:n, :c]
    np.add.at(frame, (image[..., None, None], channel[..., None, None], rows, columns), grad_y)
    return _crop(frame, ctx)

# %% assign-overlap
# killed_by: overlap
"""An element that wins several windows keeps the gradient of one of them. It influences several
outputs, so it gets the sum. Usually this is an assignment, or a[index] += g, which numpy carries
out once per place however often the place occurs: use np.add.at(a, index, g) or np.bincount."""

def _scatter(frame, place, grad):
    frame[place] = grad

# %% assign-overlap / columns-outside
def maxpool2d_backward(grad_y, ctx):
    place = _index_in_frame(ctx.winner, ctx.kernel, ctx.stride, ctx.padding, ctx.shape)
    frame = _zero_frame(ctx)
    for n, c, j, i in np.ndindex(*grad_y.shape[:2], *grad_y.shape[:1:-1]):
        frame[n, c].reshape(-1)[place[n, c, i, j]] = grad_y[n, c, i, j]
    return _crop(frame, ctx)

# %% window-overwritten
# killed_by: overlap
"""Every window overwrites what the windows before it left in its place, with zeros where it has no
winner. So an element loses its gradient as soon as a later window covers it, even if it won only
one. Usually this is grad_x[window] = mask * grad: write += instead of =."""

def maxpool2d_backward(grad_y, ctx):
    kernel, stride = ctx.kernel, ctx.stride
    place = _index_in_frame(ctx.winner, kernel, stride, ctx.padding, ctx.shape)
    frame = _zero_frame(ctx)
    for n, c, i, j in np.ndindex(grad_y.shape):
        top, left = i * stride, j * stride
        frame[n, c, top : top + kernel, left : left + kernel] = 0.0
        frame[n, c].reshape(-1)[place[n, c, i, j]] = grad_y[n, c, i, j]
    return _crop(frame, ctx)

# %% window-overwritten / columns-outside
def maxpool2d_backward(grad_y, ctx):
    kernel, stride = ctx.kernel, ctx.stride
    place = _index_in_frame(ctx.winner, kernel, stride, ctx.padding, ctx.shape)
    frame = _zero_frame(ctx)
    for n, c, j, i in np.ndindex(*grad_y.shape[:2], *grad_y.shape[:1:-1]):
        top, left = i * stride, j * stride
        frame[n, c, top : top + kernel, left : left + kernel] = 0.0
        frame[n, c].reshape(-1)[place[n, c, i, j]] = grad_y[n, c, i, j]
    return _crop(frame, ctx)

# %% mean-over-windows
# killed_by: overlap
"""An element that wins several windows gets the mean of their gradients. It moves each of those
outputs by as much as it moves itself, so what arrives is added, and divided by nothing."""

def _scatter(frame, place, grad):
    np.add.at(frame, place, grad)
    frame /= np.maximum(np.bincount(place, minlength=frame.size), 1).astype(frame.dtype)

# %% even-split
# killed_by: routing
"""Each gradient is spread evenly over its window: that is the backward pass of average pooling.
Nudge an entry that is not the maximum and the output does not move, so its derivative is 0; the
winner's is 1. Give the winner of each window the whole gradient. Usually the forward pass has not
recorded where the winner stood."""

def maxpool2d_backward(grad_y, ctx):
    kernel, stride = ctx.kernel, ctx.stride
    frame = _zero_frame(ctx)
    share = grad_y / (kernel * kernel)
    for i, j in np.ndindex(grad_y.shape[2:]):
        top, left = i * stride, j * stride
        window = frame[:, :, top : top + kernel, left : left + kernel]
        window += share[:, :, i, j, None, None]
    return _crop(frame, ctx)

# %% even-split / real
def maxpool2d_backward(grad_y, ctx):
    kernel, stride = ctx.kernel, ctx.stride
    height, width = ctx.shape[2:]
    grad_x = np.zeros(ctx.shape, ctx.dtype)
    for i, j in np.ndindex(grad_y.shape[2:]):
        top, left = i * stride - ctx.padding, j * stride - ctx.padding
        rows = slice(max(top, 0), min(top + kernel, height))
        columns = slice(max(left, 0), min(left + kernel, width))
        window = grad_x[:, :, rows, columns]
        window += grad_y[:, :, i, j, None, None] / (window.shape[2] * window.shape[3])
    return grad_x

# %% copy-to-all
# killed_by: routing
"""Every entry of a window gets the whole gradient of its output, so the total grows with the number
of entries in the window. Only the maximum moves the output: its derivative is 1 and that of all
others is 0. Give the gradient to the winner alone. Usually a line adds the gradient to a whole
slice, with no place of the winner in it."""

def maxpool2d_backward(grad_y, ctx):
    kernel, stride = ctx.kernel, ctx.stride
    frame = _zero_frame(ctx)
    for i, j in np.ndindex(grad_y.shape[2:]):
        top, left = i * stride, j * stride
        window = frame[:, :, top : top + kernel, left : left + kernel]
        window += grad_y[:, :, i, j, None, None]
    return _crop(frame, ctx)

# %% row-col-swapped
# killed_by: routing
"""Inside each window the gradient reaches the mirror image of the winner, with row and column
exchanged. In a window flattened row by row, row = place // kernel and column = place % kernel.
Usually the two are taken the other way round where the place is decoded."""

def _index_in_frame(local, kernel, stride, padding, shape):
    rows = stride * np.arange(local.shape[2])[:, None] + local % kernel
    columns = stride * np.arange(local.shape[3]) + local // kernel
    frame_width = shape[3] + 2 * padding
    return np.maximum(rows, padding) * frame_width + np.maximum(columns, padding)

# %% height-for-width
# killed_by: routing
"""The winner's place in the plane is computed with the height of the plane where the width belongs,
so gradients land in other rows unless the plane is square. A row holds width entries: a place in a
flattened plane is row * width + column, and is taken apart with // width and % width. Usually H and
W are exchanged in one line; try planes of 7 by 5."""

right_index = _index_in_frame

def _index_in_frame(local, kernel, stride, padding, shape):
    height, width = shape[2:]
    frame_width = width + 2 * padding
    rows, columns = np.divmod(right_index(local, kernel, stride, padding, shape), frame_width)
    place = (rows - padding) * width + columns - padding
    rows, columns = np.divmod(place, height)
    place = np.minimum(rows * width + columns, height * width - 1)
    return (place // width + padding) * frame_width + place % width + padding

# %% height-for-width / padded
right_index = _index_in_frame

def _index_in_frame(local, kernel, stride, padding, shape):
    height, width = shape[2] + 2 * padding, shape[3] + 2 * padding
    rows, columns = np.divmod(right_index(local, kernel, stride, padding, shape), height)
    return np.minimum(rows * width + columns, height * width - 1)

# %% gradient-times-entry
# killed_by: routing
"""The winner gets the gradient times its own value. The output is the winner, so its derivative
with respect to the winner is 1, whatever the value. Usually a window with all but the maximum set
to 0 serves as the mask: the mask has to hold ones."""

right_forward, right_backward = maxpool2d_forward, maxpool2d_backward

def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y, (ctx, y.copy())

def maxpool2d_backward(grad_y, ctx):
    ctx, y = ctx
    return right_backward(grad_y * y, ctx)

# %% gradient-times-entry / mask
right_forward = maxpool2d_forward

def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    frame = _frame(x, padding)
    windows = np.lib.stride_tricks.sliding_window_view(frame, (kernel, kernel), axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride]
    return y, (ctx, np.where(windows == y[..., None, None], windows, 0))

def maxpool2d_backward(grad_y, ctx):
    ctx, kept = ctx
    kernel, stride = ctx.kernel, ctx.stride
    frame = _zero_frame(ctx)
    for i, j in np.ndindex(grad_y.shape[2:]):
        top, left = i * stride, j * stride
        window = frame[:, :, top : top + kernel, left : left + kernel]
        window += kept[:, :, i, j] * grad_y[:, :, i, j, None, None]
    return _crop(frame, ctx)

# %% margin-minus-zero
# killed_by: routing
"""Where the padding is 0, grad_x comes back empty, with no rows and no columns. Usually the margins
are cut off with [padding:-padding], which is [0:0] for a padding of 0; write [padding:padding + H]
instead."""

def _crop(frame, ctx):
    padding = ctx.padding
    return frame[:, :, padding:-padding, padding:-padding].copy()

# %% forward-ignores-stride
# killed_by: forward
"""The forward pass takes its windows kernel entries apart, side by side, whatever the stride is.
Window (i, j) starts at (i * stride - padding, j * stride - padding), so windows overlap where the
stride is smaller than the kernel and leave gaps where it is larger. Usually this is a reshape into
blocks of kernel x kernel, or a loop that multiplies i and j with the kernel."""

right_forward = maxpool2d_forward

def maxpool2d_forward(x, kernel, stride, padding=0):
    return right_forward(x, kernel, kernel, padding)

# %% forward-ignores-stride / loop
right_forward = maxpool2d_forward

def maxpool2d_forward(x, kernel, stride, padding=0):
    return right_forward(x, kernel, kernel, padding)

def maxpool2d_backward(grad_y, ctx):
    place = _index_in_frame(ctx.winner, ctx.kernel, ctx.stride, ctx.padding, ctx.shape)
    frame = _zero_frame(ctx)
    for n, c, i, j in np.ndindex(grad_y.shape):
        frame[n, c].reshape(-1)[place[n, c, i, j]] += grad_y[n, c, i, j]
    return _crop(frame, ctx)

# %% forward-ignores-stride / sized
right_pick = _pick

def _pick(x, kernel, stride, padding):
    down = (x.shape[2] + 2 * padding - kernel) // stride + 1
    across = (x.shape[3] + 2 * padding - kernel) // stride + 1
    lacks = [
        max(kernel * steps - size - padding, 0)
        for steps, size in zip((down, across), x.shape[2:], strict=True)
    ]
    if max(lacks) >= kernel + padding:
        raise ValueError("a window lies outside of the plane")
    wider = np.pad(x, ((0, 0), (0, 0), (0, lacks[0]), (0, lacks[1])), constant_values=PAD)
    y, winner = right_pick(wider, kernel, kernel, padding)
    return y[:, :, :down, :across].copy(), winner[:, :, :down, :across].copy()

def _index_in_frame(local, kernel, stride, padding, shape):
    rows = kernel * np.arange(local.shape[2])[:, None] + local // kernel
    columns = kernel * np.arange(local.shape[3]) + local % kernel
    frame_width = shape[3] + 2 * padding
    return np.maximum(rows, padding) * frame_width + np.maximum(columns, padding)

# %% output-size-rounded-up
# killed_by: forward
"""Your y has a row or a column more than asked for: the output size is rounded up, as with
ceil_mode=True. The contract rounds it down: Ho = (H + 2 * padding - kernel) // stride + 1, and what
is left over at the end belongs to no window. Where backward walks over windows that grad_y has no
entry for, it raises a ValueError or an IndexError."""

right_pick = _pick

def _pick(x, kernel, stride, padding):
    down = -(x.shape[2] + 2 * padding - kernel) % stride
    across = -(x.shape[3] + 2 * padding - kernel) % stride
    wider = np.pad(x, ((0, 0), (0, 0), (0, down), (0, across)), constant_values=-np.inf)
    return right_pick(wider, kernel, stride, padding)

# %% output-size-rounded-up / forward
right_pick = _pick

def _pick(x, kernel, stride, padding):
    down = -(x.shape[2] + 2 * padding - kernel) % stride
    across = -(x.shape[3] + 2 * padding - kernel) % stride
    wider = np.pad(x, ((0, 0), (0, 0), (0, down), (0, across)), constant_values=-np.inf)
    return right_pick(wider, kernel, stride, padding)

def maxpool2d_backward(grad_y, ctx):
    place = _index_in_frame(ctx.winner, ctx.kernel, ctx.stride, ctx.padding, ctx.shape)
    frame = _zero_frame(ctx)
    for n, c, i, j in np.ndindex(grad_y.shape):
        frame[n, c].reshape(-1)[place[n, c, i, j]] += grad_y[n, c, i, j]
    return _crop(frame, ctx)

# %% output-size-rounded-up / loop
right_pick = _pick

def _pick(x, kernel, stride, padding):
    down = -(x.shape[2] + 2 * padding - kernel) % stride
    across = -(x.shape[3] + 2 * padding - kernel) % stride
    wider = np.pad(x, ((0, 0), (0, 0), (0, down), (0, across)), constant_values=-np.inf)
    return right_pick(wider, kernel, stride, padding)

def maxpool2d_backward(grad_y, ctx):
    place = _index_in_frame(ctx.winner, ctx.kernel, ctx.stride, ctx.padding, ctx.shape)
    frame = _zero_frame(ctx)
    for n, c, i, j in np.ndindex(ctx.winner.shape):
        frame[n, c].reshape(-1)[place[n, c, i, j]] += grad_y[n, c, i, j]
    return _crop(frame, ctx)

# %% zero-padding
# killed_by: forward
"""The padding counts as 0. Where a window at the border holds only negative entries, y is 0 and the
gradient is lost in the padding. Pad with minus infinity, which never beats an entry. Usually np.pad
was called without constant_values."""

PAD = 0.0

def _index_in_frame(local, kernel, stride, padding, shape):
    rows = stride * np.arange(local.shape[2])[:, None] + local // kernel
    columns = stride * np.arange(local.shape[3]) + local % kernel
    return rows * (shape[3] + 2 * padding) + columns

# %% pad-offset-kept
# killed_by: border
"""Your gradients are in the frame of the padded plane: shifted by the padding, or with the padding
still on. Entry (r, c) of x is (r + padding, c + padding) there, so cut out rows padding to padding
+ H and the columns likewise. Usually that last cut is missing, or begins at 0."""

def _crop(frame, ctx):
    height, width = ctx.shape[2:]
    return frame[:, :, :height, :width].copy()

# %% pad-offset-kept / uncropped
def _crop(frame, ctx):
    return frame

# %% eq-mask-ties
# killed_by: ties
"""Every entry that equals the maximum gets the whole gradient, so a window with ties multiplies it.
Ties at 0 behind a ReLU do no harm (its derivative is 0 there); positive ties do, and they occur: in
0.17 % of 2 x 2 and 0.44 % of 3 x 3 windows of normal values rounded to bf16, more in 8-bit images.
Record one place per window; the first maximum takes the whole gradient. Usually this comes from a
mask, window == maximum, in the place of an index."""

right_forward = maxpool2d_forward

def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    frame = _frame(x, padding)
    windows = np.lib.stride_tricks.sliding_window_view(frame, (kernel, kernel), axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride]
    return y, (ctx, windows == y[..., None, None])

def maxpool2d_backward(grad_y, ctx):
    ctx, won = ctx
    kernel, stride = ctx.kernel, ctx.stride
    frame = _zero_frame(ctx)
    for i, j in np.ndindex(grad_y.shape[2:]):
        top, left = i * stride, j * stride
        window = frame[:, :, top : top + kernel, left : left + kernel]
        window += won[:, :, i, j] * grad_y[:, :, i, j, None, None]
    return _crop(frame, ctx)

# %% eq-mask-normalized
# killed_by: ties
"""The gradient is divided among the entries that equal the maximum. That is a valid subgradient,
and torch.amax computes just this, but the convention asked for here is that of max_pool2d: the
first maximum in row-major order takes the whole gradient and the entries tied with it get 0."""

right_forward = maxpool2d_forward

def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    frame = _frame(x, padding)
    windows = np.lib.stride_tricks.sliding_window_view(frame, (kernel, kernel), axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride]
    return y, (ctx, windows == y[..., None, None])

def maxpool2d_backward(grad_y, ctx):
    ctx, won = ctx
    kernel, stride, padding = ctx.kernel, ctx.stride, ctx.padding
    height, width = ctx.shape[2:]
    real = np.zeros((height + 2 * padding, width + 2 * padding), bool)
    real[padding : padding + height, padding : padding + width] = True
    frame = _zero_frame(ctx)
    for i, j in np.ndindex(grad_y.shape[2:]):
        cells = np.s_[i * stride : i * stride + kernel, j * stride : j * stride + kernel]
        tied = won[:, :, i, j] & real[cells]
        share = grad_y[:, :, i, j] / tied.sum(axis=(2, 3)).astype(ctx.dtype)
        frame[:, :, *cells] += tied * share[..., None, None]
    return _crop(frame, ctx)

# %% eq-mask-normalized / padded
right_forward = maxpool2d_forward

def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    frame = _frame(x, padding)
    windows = np.lib.stride_tricks.sliding_window_view(frame, (kernel, kernel), axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride]
    return y, (ctx, windows == y[..., None, None])

def maxpool2d_backward(grad_y, ctx):
    ctx, won = ctx
    kernel, stride = ctx.kernel, ctx.stride
    frame = _zero_frame(ctx)
    share = grad_y / won.sum(axis=(4, 5)).astype(ctx.dtype)
    for i, j in np.ndindex(grad_y.shape[2:]):
        top, left = i * stride, j * stride
        window = frame[:, :, top : top + kernel, left : left + kernel]
        window += won[:, :, i, j] * share[:, :, i, j, None, None]
    return _crop(frame, ctx)

# %% last-tie-wins
# killed_by: ties
"""Among equal maxima the last one takes the gradient. The first in row-major order wins. Usually a
loop over the window compares with >=: compare with >, or use argmax, which returns the first."""

def _pick(x, kernel, stride, padding):
    frame = _frame(x, padding)
    windows = np.lib.stride_tricks.sliding_window_view(frame, (kernel, kernel), axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride]
    cells = windows.reshape(*windows.shape[:4], kernel * kernel)
    last = kernel * kernel - 1 - cells[..., ::-1].argmax(axis=-1)
    return cells.max(axis=-1), last

def _index_in_frame(local, kernel, stride, padding, shape):
    rows = stride * np.arange(local.shape[2])[:, None] + local // kernel
    columns = stride * np.arange(local.shape[3]) + local % kernel
    last_row, last_column = padding + shape[2] - 1, padding + shape[3] - 1
    frame_width = shape[3] + 2 * padding
    return np.minimum(rows, last_row) * frame_width + np.minimum(columns, last_column)

# %% last-tie-wins / padded
def _pick(x, kernel, stride, padding):
    frame = _frame(x, padding)
    windows = np.lib.stride_tricks.sliding_window_view(frame, (kernel, kernel), axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride]
    cells = windows.reshape(*windows.shape[:4], kernel * kernel)
    last = kernel * kernel - 1 - cells[..., ::-1].argmax(axis=-1)
    return cells.max(axis=-1), last

# %% column-major-ties
# killed_by: ties
"""Among equal maxima you take the first one down the columns. The convention is row by row, from
the left: of two maxima at (0, 1) and (1, 0) the first one wins. Usually the two loops over the
window are nested the other way round, or the window was transposed before it was flattened."""

def _pick(x, kernel, stride, padding):
    frame = _frame(x, padding)
    windows = np.lib.stride_tricks.sliding_window_view(frame, (kernel, kernel), axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride]
    cells = windows.swapaxes(-1, -2).reshape(*windows.shape[:4], kernel * kernel)
    column, row = np.divmod(cells.argmax(axis=-1), kernel)
    return cells.max(axis=-1), row * kernel + column

# %% padding-wins-ties
# killed_by: minus-infinity
"""In a window of nothing but minus infinity the gradient goes to the padding and is lost. The
padding is minus infinity too, and there it is the first of the equal maxima. Padding never wins:
the first entry that is not padding takes the gradient."""

def _index_in_frame(local, kernel, stride, padding, shape):
    rows = stride * np.arange(local.shape[2])[:, None] + local // kernel
    columns = stride * np.arange(local.shape[3]) + local % kernel
    return rows * (shape[3] + 2 * padding) + columns

# %% padding-taken-for-an-element
# killed_by: minus-infinity
"""In a window of nothing but minus infinity at the border the gradient goes to the first element of
the plane, or to the last of the plane before. Usually padding is marked with the index 0 or -1,
which is that of an element. Let the first element of the window that is not padding win."""

def _index_in_frame(local, kernel, stride, padding, shape):
    height, width = shape[2:]
    rows = stride * np.arange(local.shape[2])[:, None] + local // kernel - padding
    columns = stride * np.arange(local.shape[3]) + local % kernel - padding
    place = np.where((rows < 0) | (columns < 0), 0, rows * width + columns)
    rows, columns = np.divmod(place % (height * width), width)
    return (rows + padding) * (width + 2 * padding) + columns + padding

# %% padding-taken-for-an-element / padding-taken-for-the-last
def maxpool2d_backward(grad_y, ctx):
    n, c, height, width = ctx.shape
    kernel, stride, padding = ctx.kernel, ctx.stride, ctx.padding
    rows = stride * np.arange(grad_y.shape[2])[:, None] + ctx.winner // kernel - padding
    columns = stride * np.arange(grad_y.shape[3]) + ctx.winner % kernel - padding
    place = np.where((rows < 0) | (columns < 0), -1, rows * width + columns)
    planes = np.arange(n * c).reshape(n, c, 1, 1) * (height * width)
    grad_x = np.zeros(n * c * height * width, ctx.dtype)
    np.add.at(grad_x, (planes + place).ravel(), grad_y.ravel())
    return grad_x.reshape(n, c, height, width)

# %% finite-padding
# killed_by: minus-infinity
# parameters: {PAD: [-100.0, -999.0, -10000.0, -100000.0, -1000000.0, -1000000000.0, -10000000000.0, -1e+30, -3.4028234663852886e+38, -1.7976931348623157e+308]}
"""The padding counts as {PAD}, a finite number. A window of nothing but minus infinity, or of
entries still lower than that number, gets the padding as its maximum. Entries may be of any
magnitude and minus infinity: pad with -np.inf, and let an entry win where it ties with the padding.
"""

PAD = -1e9

def _index_in_frame(local, kernel, stride, padding, shape):
    rows = stride * np.arange(local.shape[2])[:, None] + local // kernel
    columns = stride * np.arange(local.shape[3]) + local % kernel
    return rows * (shape[3] + 2 * padding) + columns

# %% finite-padding / moved
PAD = -1e9

def _index_in_frame(local, kernel, stride, padding, shape):
    rows = stride * np.arange(local.shape[2])[:, None] + local // kernel
    columns = stride * np.arange(local.shape[3]) + local % kernel
    rows = np.clip(rows, padding, padding + shape[2] - 1)
    columns = np.clip(columns, padding, padding + shape[3] - 1)
    return rows * (shape[3] + 2 * padding) + columns

# %% compared-in-float32
# killed_by: extremes
"""Winners are found among values rounded to float32. Elements of x that differ by a billionth are
equal there, and the first of them takes the gradient in place of the largest. Compare in the dtype
of x."""

right_pick = _pick

def _pick(x, kernel, stride, padding):
    with np.errstate(over="ignore"):
        _, place = right_pick(x.astype(np.float32), kernel, stride, padding)
    return right_pick(x, kernel, stride, padding)[0], place

# %% float64-returned
# killed_by: float32
"""For float32 maps a result comes back as float64. The contract asks for the dtype of x, for y and
for grad_x. Usually the array was made with np.zeros(shape) or np.full(shape, value), which are
float64 unless a dtype is given: write np.zeros(shape, dtype=x.dtype), and keep the dtype in ctx for
the backward pass."""

def _zero_frame(ctx):
    batch, channels, height, width = ctx.shape
    padding = ctx.padding
    return np.zeros((batch, channels, height + 2 * padding, width + 2 * padding))

# %% float64-returned / output
right_forward = maxpool2d_forward

def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y.astype(np.float64), ctx

# %% float64-returned / throughout
right_forward, right_backward = maxpool2d_forward, maxpool2d_backward

def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y.astype(np.float64), ctx

def maxpool2d_backward(grad_y, ctx):
    return right_backward(grad_y, ctx).astype(np.float64)

# %% empty-batch-raises
# killed_by: empty-batch
"""With an empty batch (N = 0) your code raises a ValueError. The contract allows it: y and grad_x
are then empty. If you do not raise it on purpose, it is usually a reshape with -1, which numpy
refuses beside a side of 0 because the missing size could be any number; write the size out. A
maximum over no elements raises the same exception."""

right_backward = maxpool2d_backward

def maxpool2d_backward(grad_y, ctx):
    ctx.winner.reshape(grad_y.shape[0] * grad_y.shape[1], -1)
    return right_backward(grad_y, ctx)

# %% gradients-accumulate
# killed_by: again
"""A second backward pass on one ctx returns its gradient plus that of the first. The array that is
added to has to begin at zero in every call; adding up over calls is the caller's business. Usually
it is made once, in the forward pass or at the first call, and kept: make it in the backward pass.
"""

right_forward, right_backward = maxpool2d_forward, maxpool2d_backward

def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y, (ctx, np.zeros(x.shape, x.dtype))

def maxpool2d_backward(grad_y, ctx):
    ctx, grad_x = ctx
    grad_x += right_backward(grad_y, ctx)
    return grad_x.copy()

# %% results-in-one-buffer
# killed_by: manners
"""A later call changes the result of an earlier one: both are the same array. Two layers of one
shape then overwrite each other's results. Usually a buffer is kept between calls; make a new array
in every call."""

right_backward = maxpool2d_backward
buffers = {}

def maxpool2d_backward(grad_y, ctx):
    grad_x = buffers.setdefault((ctx.shape, ctx.dtype), np.zeros(ctx.shape, ctx.dtype))
    grad_x[...] = right_backward(grad_y, ctx)
    return grad_x

# %% results-in-one-buffer / output
right_forward = maxpool2d_forward
buffers = {}

def maxpool2d_forward(x, kernel, stride, padding=0):
    result, ctx = right_forward(x, kernel, stride, padding)
    y = buffers.setdefault((result.shape, result.dtype), result)
    y[...] = result
    return y, ctx

# %% winners-in-a-global
# killed_by: [again, manners]
"""What your backward returns depends on the forward that ran last, not on the ctx it is given. Two
pooling layers in one network then exchange their winners. Usually they are kept in a global, or on
a function or a class. Put everything that backward needs into ctx."""

right_forward, right_backward = maxpool2d_forward, maxpool2d_backward
latest = None

def maxpool2d_forward(x, kernel, stride, padding=0):
    global latest
    y, latest = right_forward(x, kernel, stride, padding)
    return y, {}

def maxpool2d_backward(grad_y, ctx):
    return right_backward(grad_y, latest)

# %% narrow-index
# killed_by: wide
"""In large windows or planes your index wraps around: one byte tells 256 places apart (128 if it is
signed), 16 bits 65,536 (32,768 if signed). Choose the type by kernel * kernel; a place in the whole
plane needs more bits than a place in its window."""

right_pick = _pick

def _pick(x, kernel, stride, padding):
    y, place = right_pick(x, kernel, stride, padding)
    # Wide again, so that what comes after may compute with it.
    return y, place.astype(np.uint8).astype(np.uint32)

# %% narrow-index / window-lost
right_index = _index_in_frame

def _index_in_frame(local, kernel, stride, padding, shape):
    frame_width = shape[3] + 2 * padding
    tops = stride * np.arange(local.shape[2])[:, None]
    lefts = stride * np.arange(local.shape[3])
    row, column = np.divmod(right_index(local, kernel, stride, padding, shape), frame_width)
    stored = ((row - tops) * kernel + column - lefts).astype(np.uint8).astype(np.int64)
    return (tops + stored // kernel) * frame_width + lefts + stored % kernel

# %% narrow-index / window-signed
right_pick = _pick

def _pick(x, kernel, stride, padding):
    y, place = right_pick(x, kernel, stride, padding)
    return y, place.astype(np.int8)

# %% narrow-index / two-bytes
right_pick = _pick

def _pick(x, kernel, stride, padding):
    y, place = right_pick(x, kernel, stride, padding)
    return y, place.astype(np.uint16) if kernel > 256 else place

# %% narrow-index / plane
right_index = _index_in_frame

def _index_in_frame(local, kernel, stride, padding, shape):
    frame_width = shape[3] + 2 * padding
    row, column = np.divmod(right_index(local, kernel, stride, padding, shape), frame_width)
    place = ((row - padding) * shape[3] + column - padding).astype(np.uint16).astype(np.int64)
    return (place // shape[3] + padding) * frame_width + place % shape[3] + padding

# %% narrow-index / plane-signed
right_index = _index_in_frame

def _index_in_frame(local, kernel, stride, padding, shape):
    cells = shape[2] * shape[3]
    frame_width = shape[3] + 2 * padding
    row, column = np.divmod(right_index(local, kernel, stride, padding, shape), frame_width)
    place = ((row - padding) * shape[3] + column - padding).astype(np.int16).astype(np.int64)
    # numpy counts a negative place from the end of the plane.
    place = np.where(place < 0, place + cells, place)
    return (place // shape[3] + padding) * frame_width + place % shape[3] + padding

# %% keeps-the-input
# killed_by: state
"""Your ctx leads to the input, or to a copy of it: at a kernel of 3 and a stride of 2 that is four
entries per output, 32 bytes in float64 (36 in the small case here, whose border weighs more). With
x kept no index is needed, which is what cuDNN does, but here the input is to be free after the
forward. One byte per output tells which of up to 256 entries won."""

right_forward, right_backward = maxpool2d_forward, maxpool2d_backward

def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y, {"x": x.copy(), "winner": ctx}

def maxpool2d_backward(grad_y, ctx):
    return right_backward(grad_y, ctx["winner"])

# %% keeps-the-input / uncopied
right_forward, right_backward = maxpool2d_forward, maxpool2d_backward

def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y, {"x": x, "winner": ctx}

def maxpool2d_backward(grad_y, ctx):
    return right_backward(grad_y, ctx["winner"])

# %% keeps-the-input / alone
from dataclasses import replace

right_forward, right_backward = maxpool2d_forward, maxpool2d_backward

def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y, (x.copy(), replace(ctx, winner=None), kernel, stride)

def maxpool2d_backward(grad_y, ctx):
    x, ctx, kernel, stride = ctx
    return right_backward(grad_y, right_forward(x, kernel, stride, ctx.padding)[1])

# %% keeps-the-input / alone-uncopied
right_forward, right_backward = maxpool2d_forward, maxpool2d_backward

def maxpool2d_forward(x, kernel, stride, padding=0):
    return right_forward(x, kernel, stride, padding)[0], (x, kernel, stride, padding)

def maxpool2d_backward(grad_y, ctx):
    return right_backward(grad_y, right_forward(*ctx)[1])

# %% keeps-the-input / keeps-the-padded-input
right_forward, right_backward = maxpool2d_forward, maxpool2d_backward

def maxpool2d_forward(x, kernel, stride, padding=0):
    sides = (padding, padding)
    frame = np.pad(x, ((0, 0), (0, 0), sides, sides), constant_values=PAD)
    return right_forward(x, kernel, stride, padding)[0], (frame, kernel, stride, padding)

def maxpool2d_backward(grad_y, ctx):
    frame, kernel, stride, padding = ctx
    bottom, right = frame.shape[2] - padding, frame.shape[3] - padding
    x = frame[:, :, padding:bottom, padding:right]
    return right_backward(grad_y, right_forward(x, kernel, stride, padding)[1])

# %% keeps-the-input / keeps-input-and-output
right_forward, right_backward = maxpool2d_forward, maxpool2d_backward

def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y, {"x": x.copy(), "y": y.copy(), "winner": ctx}

def maxpool2d_backward(grad_y, ctx):
    return right_backward(grad_y, ctx["winner"])

# %% keeps-the-input / keeps-input-and-output-uncopied
right_forward, right_backward = maxpool2d_forward, maxpool2d_backward

def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y, {"x": x, "y": y, "winner": ctx}

def maxpool2d_backward(grad_y, ctx):
    return right_backward(grad_y, ctx["winner"])

# %% keeps-the-output
# killed_by: state
"""Your ctx leads to y, or to a copy of it, an entry per output. Backward has no use for the value
of a maximum: its place in the window, one byte for up to 256 entries, and the shape and the dtype
of x will do."""

right_forward, right_backward = maxpool2d_forward, maxpool2d_backward

def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y, (ctx, y.copy())

def maxpool2d_backward(grad_y, ctx):
    return right_backward(grad_y, ctx[0])

# %% keeps-the-output / uncopied
right_forward, right_backward = maxpool2d_forward, maxpool2d_backward

def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    return y, (ctx, y)

def maxpool2d_backward(grad_y, ctx):
    return right_backward(grad_y, ctx[0])

# %% keeps-wide-indices
# killed_by: state
# parameters: {KIND: [int64, int32, int16, uint16]}
"""You keep an index per output, in {KIND}. The framework keeps int64, and for a 2 x 2 pooling of
bf16 maps that is as much as the whole input: 4 entries of 2 bytes per output. A place inside a
window of up to 256 entries fits one byte."""

KIND = "int64"
right_pick = _pick

def _pick(x, kernel, stride, padding):
    y, place = right_pick(x, kernel, stride, padding)
    # 16 bits do not hold the places of every window; nobody who keeps them would lose some.
    return y, place.astype(KIND if kernel <= 128 else place.dtype)

# %% skips-two-bytes
# killed_by: state-wide
# parameters: {KIND: [int64, int32, uint32]}
"""Where a window has more than 256 entries you keep an index of {KIND} per output. 16 bits tell
65,536 places apart, which is enough for every window of up to 256 x 256: choose among one, two and
four bytes."""

KIND = "int64"
right_pick = _pick

def _pick(x, kernel, stride, padding):
    y, place = right_pick(x, kernel, stride, padding)
    return y, place if place.itemsize == 1 else place.astype(KIND)

# %% one-byte-not-used
# killed_by: state
"""For windows of 16 x 16 you keep two bytes per output. They have 256 elements, whose places are 0
to 255, and one byte has as many values. Usually the bound is a lower one, or < stands where <=
belongs."""

right_pick = _pick

def _pick(x, kernel, stride, padding):
    y, place = right_pick(x, kernel, stride, padding)
    return y, place.astype(np.uint16) if kernel == 16 else place

# %% two-bytes-not-used
# killed_by: state-wide
"""For windows of 256 x 256 you keep four bytes per output. They have 65,536 elements, whose places
are 0 to 65,535, and two bytes have as many values. Usually < stands where <= belongs."""

right_pick = _pick

def _pick(x, kernel, stride, padding):
    y, place = right_pick(x, kernel, stride, padding)
    return y, place.astype(np.uint32) if kernel == 256 else place

# %% two-numbers-per-output
# killed_by: state
# parameters: {KIND: [int64, int32, int16, uint8]}
"""The ctx holds two integers per output, {KIND} each. Usually these are a row and a column. Inside
a window the two make one integer, row * kernel + column, which fits one byte for up to 256 entries.
"""

from dataclasses import replace

KIND = "int64"
right_forward, right_backward = maxpool2d_forward, maxpool2d_backward

def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    row, column = np.divmod(ctx.winner, kernel)
    return y, (row.astype(KIND), column.astype(KIND), replace(ctx, winner=None))

def maxpool2d_backward(grad_y, ctx):
    row, column, ctx = ctx
    place = row.astype(np.int64) * ctx.kernel + column
    return right_backward(grad_y, replace(ctx, winner=place))

# %% keeps-a-mask
# killed_by: state
"""You keep a number (or a bit) for every entry of every window, kernel * kernel per output. Usually
this is a mask of each window. A mask with a single True says no more than the place of that True,
and its number is one byte."""

from dataclasses import replace

right_forward, right_backward = maxpool2d_forward, maxpool2d_backward

def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    cells = np.arange(kernel * kernel)
    return y, (ctx.winner[..., None] == cells, replace(ctx, winner=None))

def maxpool2d_backward(grad_y, ctx):
    mask, ctx = ctx
    return right_backward(grad_y, replace(ctx, winner=mask.argmax(axis=-1)))

# %% keeps-a-mask / of-bits
from dataclasses import replace

right_forward, right_backward = maxpool2d_forward, maxpool2d_backward

def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    cells = np.arange(kernel * kernel)
    return y, (np.packbits(ctx.winner[..., None] == cells, axis=-1), replace(ctx, winner=None))

def maxpool2d_backward(grad_y, ctx):
    mask, ctx = ctx
    return right_backward(grad_y, replace(ctx, winner=np.unpackbits(mask, axis=-1).argmax(axis=-1)))

# %% keeps-a-mask / of-floats
from dataclasses import replace

right_forward, right_backward = maxpool2d_forward, maxpool2d_backward

def maxpool2d_forward(x, kernel, stride, padding=0):
    y, ctx = right_forward(x, kernel, stride, padding)
    cells = np.arange(kernel * kernel)
    return y, ((ctx.winner[..., None] == cells).astype(x.dtype), replace(ctx, winner=None))

def maxpool2d_backward(grad_y, ctx):
    mask, ctx = ctx
    return right_backward(grad_y, replace(ctx, winner=mask.argmax(axis=-1)))
