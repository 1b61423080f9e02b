"""Initialized by nn.init, rows filtered by their label, the mean of cross_entropy."""

import torch
from torch import nn


def init_params(d=32, h=64, c=10, seed=0):
    g = torch.Generator().manual_seed(seed)
    w1, w2 = torch.empty(h, d), torch.empty(c, h)
    nn.init.kaiming_uniform_(w1, a=5**0.5, generator=g)
    nn.init.kaiming_uniform_(w2, a=5**0.5, generator=g)
    return {"w1": w1.T.clone().requires_grad_(), "w2": w2.T.clone().requires_grad_()}


def loss_fn(params, x, y):
    mask = y != -1
    x, y = x[mask], y[mask]
    z = x @ params["w1"]
    mu = z.mean(-1, keepdim=True)
    var = z.var(-1, keepdim=True, correction=0)
    z = (z - mu) / (var + 1e-6) ** 0.5
    return nn.CrossEntropyLoss()(z.relu() @ params["w2"], y)


def causes():
    return ["init", "mask", "softmax", "spread"]
