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
from numpy.lib.stride_tricks import sliding_window_view


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
        cache: an opaque value for `conv1d_backward`; it refers to w without copying it.
    """
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    windows = _windows(padded, w.shape[2], stride)
    y = np.einsum("nctk,ock->not", windows, w, optimize=True) + b[:, None]
    return y, (padded, w, stride, padding)


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
    padded, w, stride, padding = cache
    grad_padded = _input_gradient(grad_y, w, padded.shape, stride)
    # The copy releases the margins, which the caller never asked for.
    grad_x = grad_padded[:, :, padding : padded.shape[2] - padding].copy()
    return grad_x, _filter_gradient(grad_y, padded, w.shape[2], stride), _bias_gradient(grad_y)


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


def _windows(padded, kernel, stride):
    """Return a view (N, Cin, T, K) of padded (N, Cin, P): window t begins at t * stride."""
    return sliding_window_view(padded, kernel, axis=2)[:, :, ::stride]


def _filter_gradient(grad_y, padded, kernel, stride):
    """Return grad_w (Cout, Cin, K): the sum of grad_y times window over samples and positions."""
    return np.einsum("not,nctk->ock", grad_y, _windows(padded, kernel, stride), optimize=True)


def _bias_gradient(grad_y):
    """Return grad_b (Cout,): the sum of grad_y (N, Cout, T) over samples and positions."""
    return grad_y.sum(axis=(0, 2))


def _input_gradient(grad_y, w, padded_shape, stride):
    """Return the gradient of the padded input, of shape padded_shape (N, Cin, P).

    It adds one tap k at a time: the T positions t * stride + k differ, so one slice takes them all.
    """
    steps, kernel = grad_y.shape[2], w.shape[2]
    per_tap = np.einsum("not,ock->knct", grad_y, w, optimize=True)
    grad_padded = np.zeros(padded_shape, dtype=grad_y.dtype)
    for k in range(kernel):
        grad_padded[:, :, k : k + stride * (steps - 1) + 1 : stride] += per_tap[k]
    return grad_padded
