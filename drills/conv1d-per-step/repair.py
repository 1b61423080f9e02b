"""1-D convolution for a sensor that delivers one output step at a time."""

import numpy as np


def conv1d_forward(x, w, b, stride=1, padding=0):
    """Correlate x (N, Cin, L) with w (Cout, Cin, K): y (N, Cout, T), cache."""
    batch, _, length = x.shape
    out_channels, _, taps = w.shape
    steps = (length + 2 * padding - taps) // stride + 1
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    # why 2: np.zeros is float64 unless a dtype is given.
    y = np.zeros((batch, out_channels, steps), dtype=x.dtype)
    # why 3: Every window is a slice of the padded input and can be taken again,
    #      so that no copies of windows are made or kept.
    for t in range(steps):
        window = padded[:, :, t * stride : t * stride + taps]
        y[:, :, t] = step_forward(window, w, b)
    # why 3: The padded input is all that backward reads of the windows.
    return y, (padded, w, x.shape, stride, padding)


def conv1d_backward(grad_y, cache):
    """Return (grad_x, grad_w, grad_b) for grad_y (N, Cout, T)."""
    # why 3: The padded input is all that backward reads of the windows.
    padded, w, shape, stride, padding = cache
    # why 2: np.zeros is float64 unless a dtype is given.
    grad_x = np.zeros((shape[0], shape[1], shape[2] + 2 * padding), w.dtype)
    # why: The filter and the bias are used at every step, so their gradients
    #      begin at 0 and add up what each step gives; the starter kept that of
    #      the last step.
    grad_w, grad_b = np.zeros_like(w), np.zeros_like(w[:, 0, 0])
    # why 3: Each window is taken from the padded input again.
    for t in range(grad_y.shape[2]):
        window = padded[:, :, t * stride : t * stride + w.shape[2]]
        # why: The gradients of this step alone, which are added below.
        grad_window, step_w, step_b = step_backward(grad_y[:, :, t], window, w)
        grad_x[:, :, t * stride : t * stride + w.shape[2]] += grad_window
        # why: One weight, several uses: the chain rule gives the sum over them.
        grad_w += step_w
        grad_b += step_b
    return grad_x[:, :, padding : padding + shape[2]], grad_w, grad_b


def train_step(w, b, x, target, lr, stride=1, padding=0):
    """One step of SGD on mean((y - target)**2): the new w and b, the loss."""
    # why: All errors and both gradients are those of the weights that were
    #      given, so the step is taken once, after all output steps; the starter
    #      moved the weights after each of them.
    y, cache = conv1d_forward(x, w, b, stride, padding)
    error = y - target
    loss = np.sum(error**2) / target.size
    _, grad_w, grad_b = conv1d_backward(2 * error / target.size, cache)
    return w - lr * grad_w, b - lr * grad_b, loss


def step_forward(window, w, b):
    """One output step: (N, Cin, K) -> (N, Cout)."""
    return np.einsum("nck,ock->no", window, w) + b


def step_backward(grad, window, w):
    """Gradients of one output step, grad (N, Cout): of its window, w and b."""
    grad_window = np.einsum("no,ock->nck", grad, w)
    grad_w = np.einsum("no,nck->ock", grad, window)
    return grad_window, grad_w, grad.sum(axis=0)
