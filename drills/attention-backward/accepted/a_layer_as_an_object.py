"""The ctx is an object with its own backward pass."""

import numpy as np

WHY = dict(zip(["sum-is-zero", "blind-spot"], "bd"))


class Attention:
    def __init__(self, q, k, v, causal):
        self.q, self.k, self.v, self.causal = q, k, v, causal
        self.scale = q.dtype.type(1 / np.sqrt(q.shape[2]))
        s = self.scores()
        self.m = s.max(axis=2)
        self.m[np.isinf(self.m)] = 0
        self.z = np.exp(s - self.m[:, :, None]).sum(axis=2)
        self.z[self.z == 0] = 1

    def scores(self):
        s = self.scale * np.matmul(self.q, self.k.transpose(0, 2, 1))
        if self.causal:
            for t in range(s.shape[1]):
                s[:, t, max(0, t + 1 + s.shape[2] - s.shape[1]) :] = -np.inf
        return s

    def weights(self):
        return np.exp(self.scores() - self.m[:, :, None]) / self.z[:, :, None]

    def forward(self):
        self.o = np.matmul(self.weights(), self.v)
        return self.o

    def backward(self, grad_o):
        p = self.weights()
        dp = np.matmul(grad_o, self.v.transpose(0, 2, 1))
        ds = self.scale * p * (dp - np.sum(grad_o * self.o, axis=2)[:, :, None])
        return np.matmul(ds, self.k), np.matmul(ds.transpose(0, 2, 1), self.q), np.matmul(p.transpose(0, 2, 1), grad_o)


def attention_forward(q, k, v, causal=False):
    layer = Attention(q, k, v, causal)
    return layer.forward(), layer


def attention_backward(grad_o, ctx):
    return ctx.backward(grad_o)
