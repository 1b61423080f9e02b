"""Style: instances with __call__ instead of functions; the cache is an object with a method."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


class _Pass:
    def __init__(self, padded, w, stride, padding):
        self.padded = padded
        self.w = w
        self.stride = stride
        self.padding = padding

    @property
    def windows(self):
        return sliding_window_view(self.padded, self.w.shape[2], axis=2)[:, :, :: self.stride]

    def output(self, b):
        return np.einsum("nctk,ock->not", self.windows, self.w) + b[:, None]

    def gradients(self, grad_y):
        grad = np.zeros(self.padded.shape, dtype=self.padded.dtype)
        reach = self.stride * (grad_y.shape[2] - 1) + 1
        for k in range(self.w.shape[2]):
            grad[:, :, k : k + reach : self.stride] += np.einsum(
                "not,oc->nct", grad_y, self.w[:, :, k]
            )
        inner = grad[:, :, self.padding : grad.shape[2] - self.padding]
        return inner, np.einsum("not,nctk->ock", grad_y, self.windows), grad_y.sum(axis=(0, 2))


class Forward:
    def __call__(self, x, w, b, stride=1, padding=0):
        done = _Pass(np.pad(x, ((0, 0), (0, 0), (padding, padding))), w, stride, padding)
        return done.output(b), done


class Backward:
    def __call__(self, grad_y, cache):
        return cache.gradients(grad_y)


class Step:
    def __init__(self, forward, backward):
        self.forward = forward
        self.backward = backward

    def __call__(self, w, b, x, target, lr, stride=1, padding=0):
        y, cache = self.forward(x, w, b, stride, padding)
        residual = y - target
        _, grad_w, grad_b = self.backward(2.0 / residual.size * residual, cache)
        return w - lr * grad_w, b - lr * grad_b, float(np.mean(np.abs(residual) ** 2))


conv1d_forward = Forward()
conv1d_backward = Backward()
train_step = Step(conv1d_forward, conv1d_backward)
