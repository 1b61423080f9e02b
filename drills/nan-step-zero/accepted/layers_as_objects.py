"""Small classes, a standard deviation by torch.std, and the mean by cumulative sums."""

import torch


class Standardize:
    def __init__(self, eps):
        self.eps = eps

    def __call__(self, z):
        return (z - z.mean(-1, keepdim=True)) / (z.std(-1, correction=0, keepdim=True) + self.eps)


class Network:
    def __init__(self, params):
        self.layers = [params["w1"].T, Standardize(1e-6), torch.relu, params["w2"].T]

    def __call__(self, x):
        for layer in self.layers:
            linear = torch.is_tensor(layer)
            x = torch.nn.functional.linear(x, layer) if linear else layer(x)
        return x


def init_params(d=32, h=64, c=10, seed=0):
    rng = torch.Generator().manual_seed(seed)
    made = {}
    for name, rows, columns in (("w1", d, h), ("w2", h, c)):
        values = torch.rand(rows, columns, generator=rng).mul_(2).sub_(1)
        made[name] = torch.nn.Parameter(values / rows**0.5)
    return made


def loss_fn(params, x, y):
    which = torch.where(y >= 0)
    logits = Network(params)(x[which])
    losses = -(logits - torch.logsumexp(logits, 1, keepdim=True)).take_along_dim(y[which][:, None], 1)
    total = torch.cat([losses.new_zeros(1), losses[:, 0].cumsum(0)])[-1:]
    return total / max(len(losses), 1)


def causes():
    return ["init", "mask", "softmax", "spread"]
