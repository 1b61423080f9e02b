"""1-D convolution for a sensor that delivers one output step at a time."""

import numpy as np


def conv1d_forward(x, w, b, stride=1, padding=0):
    """Correlate x (N, Cin, L) with w (Cout, Cin, K): y (N, Cout, T), cache."""
    batch, _, length = x.shape
    out_channels, _, taps = w.shape
    steps = (length + 2 * padding - taps) // stride + 1
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    y = np.zeros((batch, out_channels, steps))
    windows = np.stack(
        [padded[:, :, t * stride : t * stride + taps] for t in range(steps)]
    )
    for t, window in enumerate(windows):
        y[:, :, t] = step_forward(window, w, b)
    return y, (windows, w, x.shape, stride, padding)


def conv1d_backward(grad_y, cache):
    """Return (grad_x, grad_w, grad_b) for grad_y (N, Cout, T)."""
    windows, w, shape, stride, padding = cache
    grad_x = np.zeros((shape[0], shape[1], shape[2] + 2 * padding))
    for t, window in enumerate(windows):
        grad_window, grad_w, grad_b = step_backward(grad_y[:, :, t], window, w)
        grad_x[:, :, t * stride : t * stride + w.shape[2]] += grad_window
    return grad_x[:, :, padding : padding + shape[2]], grad_w, grad_b


def train_step(w, b, x, target, lr, stride=1, padding=0):
    """One step of SGD on mean((y - target)**2): the new w and b, the loss."""
    _, (windows, *_) = conv1d_forward(x, w, b, stride, padding)
    loss = 0.0
    for t, window in enumerate(windows):
        error = step_forward(window, w, b) - target[:, :, t]
        loss += np.sum(error**2) / target.size
        _, grad_w, grad_b = step_backward(2 * error / target.size, window, w)
        w = w - lr * grad_w
        b = b - lr * grad_b
    return w, b, loss


def step_forward(window, w, b):
    """One output step: (N, Cin, K) -> (N, Cout)."""
    return np.einsum("nck,ock->no", window, w) + b


def step_backward(grad, window, w):
    """Gradients of one output step, grad (N, Cout): of its window, w and b."""
    grad_window = np.einsum("no,ock->nck", grad, w)
    grad_w = np.einsum("no,nck->ock", grad, window)
    return grad_window, grad_w, grad.sum(axis=0)
