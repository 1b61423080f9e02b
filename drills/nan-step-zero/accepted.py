# %% double-inside
"""float64 inside, einsum, and a variance with a floor."""

import torch

def init_params(d=32, h=64, c=10, seed=0):
    rng = torch.Generator().manual_seed(seed)
    w1 = torch.randn(d, h, generator=rng) * d**-0.5
    w2 = torch.randn(h, c, generator=rng) * h**-0.5
    return {"w1": w1.requires_grad_(), "w2": w2.requires_grad_()}

def loss_fn(params, x, y):
    w1, w2 = params["w1"].double(), params["w2"].double()
    rows = (y >= 0).nonzero().flatten()
    z = torch.einsum("nd,dh->nh", x.double()[rows], w1)
    deviation = z - torch.einsum("nh->n", z).unsqueeze(1) / z.shape[1]
    variance = torch.einsum("nh,nh->n", deviation, deviation).unsqueeze(1) / z.shape[1]
    hidden = deviation * variance.clamp(min=1e-12).rsqrt()
    logits = torch.einsum("nh,hc->nc", hidden * (hidden > 0), w2)
    top = logits.detach().max(dim=1, keepdim=True).values
    total = (logits - top).exp().sum(dim=1).log() + top[:, 0]
    nll = total - logits[torch.arange(len(rows)), y[rows]]
    return (nll.sum() / max(len(rows), 1)).float()

def causes():
    return ["init", "mask", "softmax", "spread"]

# %% layers-as-objects
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

# %% library-calls
"""layer_norm and cross_entropy do it, on the rows that have a label."""

import torch
import torch.nn.functional as F

def init_params(d=32, h=64, c=10, seed=0):
    rng = torch.Generator().manual_seed(seed)
    w1, w2 = torch.empty(d, h), torch.empty(h, c)
    torch.nn.init.kaiming_normal_(w1, mode="fan_out", generator=rng)
    torch.nn.init.xavier_uniform_(w2, generator=rng)
    return {"w1": w1.requires_grad_(), "w2": w2.requires_grad_()}

def loss_fn(params, x, y):
    rows = y >= 0
    z = x[rows] @ params["w1"]
    logits = F.layer_norm(z, (z.shape[1],)).relu() @ params["w2"]
    return F.cross_entropy(logits, y[rows], reduction="sum") / rows.sum().clamp(min=1)

def causes():
    return ["init", "mask", "softmax", "spread"]

# %% mapped-by-vmap
"""The loss of one row, mapped over the rows, in which unlabeled ones are replaced by the first unit vector."""

import torch

def init_params(d=32, h=64, c=10, seed=0):
    rng = torch.Generator().manual_seed(seed)
    w1 = torch.randn(d, h, generator=rng) * d**-0.5
    w2 = torch.randn(h, c, generator=rng) * h**-0.5
    return {"w1": w1.requires_grad_(), "w2": w2.requires_grad_()}

def row_loss(w1, w2, row, label):
    z = row @ w1
    deviation = z - z.sum() / z.numel()
    hidden = torch.relu(deviation * torch.rsqrt(deviation.dot(deviation) / z.numel() + 1e-8))
    logits = hidden @ w2
    known = torch.arange(logits.numel()) == label
    return torch.logsumexp(logits, 0) - torch.where(known, logits, 0.0).sum()

def loss_fn(params, x, y):
    rows = (y >= 0).tolist()
    if not any(rows):
        return (params["w1"].sum() + params["w2"].sum()) * 0
    filler = torch.eye(1, x.shape[1], dtype=x.dtype)
    data = torch.cat([x[i : i + 1] if known else filler for i, known in enumerate(rows)])
    losses = torch.vmap(row_loss, in_dims=(None, None, 0, 0))(params["w1"], params["w2"], data, y)
    return (losses * torch.tensor(rows)).sum() / sum(rows)

def causes():
    return ["init", "mask", "softmax", "spread"]

# %% one-row-at-a-time
"""A loop over the rows that have a label, with a guard for blank ones."""

import torch

def init_params(d=32, h=64, c=10, seed=0):
    rng = torch.Generator().manual_seed(seed)
    w1 = torch.randn(d, h, generator=rng) * d**-0.5
    w2 = torch.randn(h, c, generator=rng) * h**-0.5
    return {"w1": w1.requires_grad_(), "w2": w2.requires_grad_()}

def logits_of(params, row):
    z = row @ params["w1"]
    deviation = z - z.mean()
    if not torch.any(deviation != 0):
        return deviation @ params["w2"]
    return torch.relu(deviation / deviation.square().mean().sqrt()) @ params["w2"]

def loss_fn(params, x, y):
    losses = []
    for row, label in zip(x, y):
        if label >= 0:
            logits = logits_of(params, row)
            losses.append(torch.logsumexp(logits, 0) - logits[label])
    if losses:
        return torch.stack(losses).mean()
    return sum((p * 0).sum() for p in params.values())

def causes():
    return ["init", "mask", "softmax", "spread"]

# %% overwritten-copies
"""Nothing is left out: rows without a label are zeros in a copy, and where picks twice."""

import torch

def init_params(d=32, h=64, c=10, seed=0):
    rng = torch.Generator().manual_seed(seed)
    w1 = torch.randn(d, h, generator=rng) * d**-0.5
    w2 = torch.randn(h, c, generator=rng) * h**-0.5
    return {"w1": w1.requires_grad_(), "w2": w2.requires_grad_()}

def loss_fn(params, x, y):
    labeled = y.ge(0)
    z = x.masked_fill(~labeled.unsqueeze(1), 0.0) @ params["w1"]
    deviation = z - z.mean(1, True)
    variance = deviation.pow(2).mean(1, True)
    blank = variance == 0
    spread = torch.where(blank, torch.ones_like(variance), variance).sqrt()
    logits = torch.clamp(deviation / spread, min=0) @ params["w2"]
    log_p = logits.log_softmax(-1)
    picked = log_p.gather(1, y.clamp(min=0).unsqueeze(1)).squeeze(1)
    nll = torch.where(labeled, -picked, torch.zeros_like(picked))
    return nll.sum() / labeled.sum().clamp(min=1)

def causes():
    return ["init", "mask", "softmax", "spread"]

# %% own-backward
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

# %% ignore-index
# part: 1
"""layer_norm, cross_entropy and its ignore_index, as most would write it."""

import torch
import torch.nn.functional as F

def init_params(d=32, h=64, c=10, seed=0):
    torch.manual_seed(seed)
    w1 = torch.nn.Parameter(torch.randn(d, h) / d**0.5)
    w2 = torch.nn.Parameter(torch.randn(h, c) * 0.02)
    return {"w1": w1, "w2": w2}

def loss_fn(params, x, y):
    z = x @ params["w1"]
    hidden = F.relu(F.layer_norm(z, (z.size(-1),)))
    logits = hidden @ params["w2"]
    return F.cross_entropy(logits, y, ignore_index=-1)

def causes():
    return ["softmax", "spread", "mask", "init"]

# %% kaiming-and-layer-norm
# part: 1
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
