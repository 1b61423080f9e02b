"""One-dimensional convolution with shared weights: forward, backward, one step of SGD.

The filter is used at every output position of every sample, so its gradient is the sum over all of
them, and nothing is divided by their number. With p[n, c, i] the zero-padded input, s the stride:

    y[n, o, t]      = b[o] + sum over c, k of w[o, c, k] * p[n, c, t * s + k]
    grad_w[o, c, k] = sum over n, t of grad_y[n, o, t] * p[n, c, t * s + k]
    grad_b[o]       = sum over n, t of grad_y[n, o, t]
    grad_p[n, c, i] = sum over o and all t, k with t * s + k == i of grad_y[n, o, t] * w[o, c, k]

The last three are the first one differentiated with respect to w, b and p. Values have no unit.

Source: cross-correlation is the convention of torch.nn.Conv1d; the output size, and the gradient of
the input as a transposed convolution, are in Dumoulin and Visin, "A guide to convolution arithmetic
for deep learning", arXiv:1603.07285, chapters 2 and 4.
"""

import numpy as np


def conv1d_forward(x, w, b, stride=1, padding=0):
    """Return the cross-correlation of x with w, plus b, and what the backward pass needs.

    Args:
        x: (N, Cin, L), float32 or float64; N may be 0.
        w: (Cout, Cin, K), dtype of x, with K <= L + 2 * padding.
        b: (Cout,), dtype of x.
        stride: distance between neighboring windows, at least 1, in input positions.
        padding: zeros added at both ends of x, at least 0; may exceed K.

    Returns:
        y: (N, Cout, T), dtype of x, with T = (L + 2 * padding - K) // stride + 1.
        cache: an opaque value for `conv1d_backward`; it refers to x and w without copying them.
    """
    y = _correlate(_padded(x, padding), w, stride)
    y += b[:, None]
    return y, (x, w, stride, padding)


def conv1d_backward(grad_y, cache):
    """Return the gradients of the loss with respect to x, w and b.

    Args:
        grad_y: (N, Cout, T), dtype of x: the gradient of the loss with respect to y.
        cache: the second result of `conv1d_forward`; left as it is, so it can be used again.

    Returns:
        grad_x: (N, Cin, L), dtype of x; exactly 0 where no window covers the input.
        grad_w: (Cout, Cin, K), dtype of x.
        grad_b: (Cout,), dtype of x.
    """
    x, w, stride, padding = cache
    padded = _padded(x, padding)
    grad_w = _filter_gradient(grad_y, padded, w.shape[2], stride)
    grad_padded = _input_gradient(grad_y, w, padded.shape, stride)
    # The copy releases the margins, which the caller never asked for.
    grad_x = grad_padded[:, :, padding : padding + x.shape[2]].copy()
    return grad_x, grad_w, _bias_gradient(grad_y)


def train_step(w, b, x, target, lr, stride=1, padding=0):
    """Return the weights after one step of SGD on mean((y - target)**2), and the loss before it.

    Args:
        w: (Cout, Cin, K), float32 or float64.
        b: (Cout,), dtype of w.
        x: (N, Cin, L), dtype of w, with N >= 1.
        target: (N, Cout, T), dtype of w.
        lr: the learning rate, a Python float.
        stride: as in `conv1d_forward`.
        padding: as in `conv1d_forward`.

    Returns:
        w_new: (Cout, Cin, K), dtype of w, a new array.
        b_new: (Cout,), dtype of w, a new array.
        loss: the mean over all N * Cout * T squared errors before the step, a Python float.
    """
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    # The one averaging there is: d mean(r**2) / dr = 2 r / r.size. The backward only adds.
    _, grad_w, grad_b = conv1d_backward((2.0 / residual.size) * residual, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.mean(residual**2))


def _padded(x, padding):
    """Return x (N, Cin, L) with `padding` zeros at both ends."""
    return np.pad(x, ((0, 0), (0, 0), (padding, padding)))


def _tap(values, k, steps, stride):
    """Return what tap k meets at each output step: a view (N, Cin, T) of values (N, Cin, P)."""
    return values[:, :, k : k + stride * (steps - 1) + 1 : stride]


def _correlate(padded, w, stride):
    """Return y (N, Cout, T) without its bias, one tap after the other: no window is copied."""
    steps = (padded.shape[2] - w.shape[2]) // stride + 1
    y = np.zeros((len(padded), len(w), steps), dtype=padded.dtype)
    for k in range(w.shape[2]):
        y += w[:, :, k] @ _tap(padded, k, steps, stride)
    return y


def _filter_gradient(grad_y, padded, kernel, stride):
    """Return grad_w (Cout, Cin, K): the sum of grad_y times window over samples and positions."""
    per_tap = [
        np.tensordot(grad_y, _tap(padded, k, grad_y.shape[2], stride), ((0, 2), (0, 2)))
        for k in range(kernel)
    ]
    return np.stack(per_tap, axis=2)


def _bias_gradient(grad_y):
    """Return grad_b (Cout,): the sum of grad_y (N, Cout, T) over samples and positions."""
    return grad_y.sum(axis=(0, 2))


def _input_gradient(grad_y, w, padded_shape, stride):
    """Return the gradient of the padded input, of shape padded_shape (N, Cin, P).

    It adds one tap k at a time: the T positions t * stride + k differ, so one slice takes them all.
    """
    grad_padded = np.zeros(padded_shape, dtype=grad_y.dtype)
    for k in range(w.shape[2]):
        target = _tap(grad_padded, k, grad_y.shape[2], stride)
        target += w[:, :, k].T @ grad_y
    return grad_padded
