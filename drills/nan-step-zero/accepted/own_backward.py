"""An autograd Function with a backward of its own, in numpy."""

import numpy as np
import torch


def init_params(d=32, h=64, c=10, seed=0):
    rng = torch.Generator().manual_seed(seed)
    w1 = torch.randn(d, h, generator=rng) * d**-0.5
    w2 = torch.randn(h, c, generator=rng) * h**-0.5
    return {"w1": w1.requires_grad_(), "w2": w2.requires_grad_()}


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w1, w2, x, y):
        rows = y.numpy() >= 0
        labels, data = y.numpy()[rows], x.detach().numpy()[rows].astype(np.float64)
        a, b = w1.detach().double().numpy(), w2.detach().double().numpy()
        z = data @ a
        centered = z - z.mean(axis=1, keepdims=True)
        spread = np.sqrt((centered**2).mean(axis=1, keepdims=True))
        spread[spread == 0] = 1.0
        unit = centered / spread
        hidden = np.maximum(unit, 0)
        logits = hidden @ b
        logits -= logits.max(axis=1, keepdims=True)
        log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        ctx.known = data, b, unit, spread, hidden, log_p, labels
        total = -log_p[np.arange(len(labels)), labels].sum()
        return w1.new_tensor(total / max(len(labels), 1))

    @staticmethod
    def backward(ctx, grad):
        data, b, unit, spread, hidden, log_p, labels = ctx.known
        delta = np.exp(log_p)
        delta[np.arange(len(labels)), labels] -= 1
        delta *= grad.item() / max(len(labels), 1)
        up = delta @ b.T * (unit > 0)
        down = up - up.mean(axis=1, keepdims=True)
        down = (down - unit * (up * unit).mean(axis=1, keepdims=True)) / spread
        return torch.from_numpy(data.T @ down), torch.from_numpy(hidden.T @ delta), None, None


def loss_fn(params, x, y):
    return Loss.apply(params["w1"], params["w2"], x, y)


def causes():
    return ["init", "mask", "softmax", "spread"]
