"""A layer class on im2col: one matrix product each way, and the columns are kept for backward."""

import numpy as np


class Conv1D:
    def __init__(self, W, b, stride, pad):
        self.parameters = {"W": W, "b": b}
        self.gradients = {"W": np.zeros_like(W), "b": np.zeros_like(b)}
        self.stride, self.pad = stride, pad

    def _indices(self, length):
        taps = self.parameters["W"].shape[2]
        out = (length - taps) // self.stride + 1
        return self.stride * np.arange(out)[:, None] + np.arange(taps)[None, :]

    def forward(self, X):
        W, b = self.parameters["W"], self.parameters["b"]
        X_pad = np.pad(X, [(0, 0), (0, 0), (self.pad, self.pad)])
        ix = self._indices(X_pad.shape[2])
        # (N, C, out, taps) -> (N * out, C * taps)
        X_col = X_pad[:, :, ix].transpose(0, 2, 1, 3).reshape(-1, W[0].size)
        Z = X_col @ W.reshape(W.shape[0], -1).T + b
        self.derived = {"X_col": X_col, "shape": X_pad.shape, "length": X.shape[2]}
        return Z.reshape(X.shape[0], len(ix), -1).transpose(0, 2, 1)

    def backward(self, dLdy):
        W, (N, C, L) = self.parameters["W"], self.derived["shape"]
        ix = self._indices(L)
        dZ = dLdy.transpose(0, 2, 1).reshape(-1, W.shape[0])
        self.gradients["W"] = (dZ.T @ self.derived["X_col"]).reshape(W.shape)
        self.gradients["b"] = dZ.sum(axis=0)
        dX_col = (dZ @ W.reshape(W.shape[0], -1)).reshape(N, len(ix), C, -1)
        dX = np.zeros((N, C, L), W.dtype)
        np.add.at(dX, (slice(None), slice(None), ix), dX_col.transpose(0, 2, 1, 3))
        return dX[:, :, self.pad : self.pad + self.derived["length"]]


def conv1d_forward(x, w, b, stride=1, padding=0):
    layer = Conv1D(w, b, stride, padding)
    return layer.forward(x), layer


def conv1d_backward(grad_y, cache):
    grad_x = cache.backward(grad_y)
    return grad_x, cache.gradients["W"], cache.gradients["b"]


def train_step(w, b, x, target, lr, stride=1, padding=0):
    layer = Conv1D(w, b, stride, padding)
    error = layer.forward(x) - target
    layer.backward(2 * error / error.size)
    new = {name: layer.parameters[name] - lr * layer.gradients[name] for name in ("W", "b")}
    return new["W"], new["b"], np.mean(error**2)
