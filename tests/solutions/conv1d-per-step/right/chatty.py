"""Style: prints a lot, and runs a demonstration when it is executed as a script."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

print("loading the convolution")


def conv1d_forward(x, w, b, stride=1, padding=0):
    print("forward", x.shape, w.shape, b.shape, "stride", stride, "padding", padding)
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    windows = sliding_window_view(padded, w.shape[2], axis=2)[:, :, ::stride]
    y = np.einsum("nctk,ock->not", windows, w) + b[:, None]
    print("y", y)
    return y, {"padded": padded, "windows": windows, "w": w, "stride": stride, "padding": padding}


def conv1d_backward(grad_y, cache):
    print("backward", grad_y.shape, sorted(cache))
    padded, w, stride = cache["padded"], cache["w"], cache["stride"]
    grad_w = np.einsum("not,nctk->ock", grad_y, cache["windows"])
    grad_b = grad_y.sum(axis=(0, 2))
    grad_padded = np.zeros_like(padded)
    for t in range(grad_y.shape[2]):
        piece = np.einsum("no,ock->nck", grad_y[:, :, t], w)
        grad_padded[:, :, t * stride : t * stride + w.shape[2]] += piece
        print("step", t, "adds", float(np.abs(piece).sum()))
    keep = slice(cache["padding"], padded.shape[2] - cache["padding"])
    print("grad_w", grad_w, "grad_b", grad_b, sep="\n")
    return grad_padded[:, :, keep], grad_w, grad_b


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    loss = float(np.mean(residual**2))
    print("loss", loss)
    _, grad_w, grad_b = conv1d_backward(2.0 * residual / residual.size, cache)
    return w - lr * grad_w, b - lr * grad_b, loss


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    weights, bias = rng.normal(size=(1, 1, 3)), np.zeros(1)
    signal = rng.normal(size=(4, 1, 16))
    for _ in range(10):
        weights, bias, loss = train_step(weights, bias, signal, signal[:, :, 1:-1], 0.1)
    raise SystemExit(f"the loss ended at {loss}")
