# %% float32_with_care
"""float32 throughout: each row is centered twice, and scaled to its largest unit before squares."""

import torch


def init_params(d=32, h=64, c=10, seed=0):
    rng = torch.Generator().manual_seed(seed)
    w1 = torch.randn(d, h, generator=rng) * d**-0.5
    w2 = torch.randn(h, c, generator=rng) * h**-0.5
    return {"w1": w1.requires_grad_(), "w2": w2.requires_grad_()}


def standardized(z):
    deviation = z - z.mean(dim=1, keepdim=True)
    deviation = deviation - deviation.mean(dim=1, keepdim=True)
    largest = deviation.detach().abs().amax(dim=1, keepdim=True)
    largest = torch.where(largest == 0, torch.ones_like(largest), largest)
    scaled = deviation / largest
    square = scaled.square().mean(dim=1, keepdim=True)
    return scaled / torch.where(square == 0, torch.ones_like(square), square).sqrt()


def loss_fn(params, x, y):
    rows = torch.nonzero(y >= 0)[:, 0]
    x, y = x.index_select(0, rows), y.index_select(0, rows)
    logits = standardized(x @ params["w1"]).relu() @ params["w2"]
    above = logits - logits.detach().amax(dim=1, keepdim=True)
    nll = above.exp().sum(dim=1).log() - above.gather(1, y.unsqueeze(1)).squeeze(1)
    return nll.sum() / rows.numel() if rows.numel() else nll.sum()


def causes():
    return ["init", "mask", "softmax", "spread"]


# %% plain_loops
"""Every number by itself, in Python loops over rows, units and classes."""

import math

import torch


def init_params(d=32, h=64, c=10, seed=0):
    rng = torch.Generator().manual_seed(seed)
    w1 = torch.randn(d, h, generator=rng) * d**-0.5
    w2 = torch.randn(h, c, generator=rng) * h**-0.5
    return {"w1": w1.requires_grad_(), "w2": w2.requires_grad_()}


def row_loss(w1, w2, row, label):
    d, h, c = len(w1), len(w2), len(w2[0])
    z = [sum(row[i] * w1[i][j] for i in range(d)) for j in range(h)]
    mean = sum(z) / h
    square = sum((v - mean) ** 2 for v in z) / h
    root = (square + 1e-6) ** 0.5
    a = [torch.relu((v - mean) / root) for v in z]
    logits = [sum(a[j] * w2[j][k] for j in range(h)) for k in range(c)]
    top = max(v.item() for v in logits)
    if math.isnan(sum(v.item() for v in logits)):
        top = 0.0
    return torch.log(sum(torch.exp(v - top) for v in logits)) + top - logits[label]


def loss_fn(params, x, y):
    w1, w2 = params["w1"], params["w2"]
    total, labels = (w1 * 0).sum() + (w2 * 0).sum(), 0
    for row, label in zip(x, y.tolist()):
        if label >= 0:
            total = total + row_loss(w1, w2, row, label)
            labels += 1
    return total / labels if labels else total


def causes():
    return ["init", "mask", "softmax", "spread"]


# %% style_a
"""Style: that of normalized_logits and others, repaired."""

import torch


def init_params(d=32, h=64, c=10, seed=0):
    rng = torch.Generator().manual_seed(seed)
    w1 = torch.randn(d, h, generator=rng) * d**-0.5
    w2 = torch.randn(h, c, generator=rng) * h**-0.5
    return {"w1": w1.requires_grad_(), "w2": w2.requires_grad_()}


def loss_fn(params, x, y):
    keep = y >= 0
    x, y = x[keep], y[keep]
    z = x @ params["w1"]
    deviation = z - z.mean(dim=1, keepdim=True)
    spread = (deviation.square().mean(dim=1, keepdim=True) + 1e-5).sqrt()
    logits = torch.relu(deviation / spread) @ params["w2"]
    nll = torch.logsumexp(logits, dim=1) - logits.gather(1, y[:, None])[:, 0]
    return nll.sum() / max(len(y), 1)


def causes():
    return ["init", "mask", "softmax", "spread"]


# %% zero_at_the_end
"""The second layer starts at 0, and cross_entropy takes the sum over labeled rows."""

import torch


def init_params(d=32, h=64, c=10, seed=0):
    rng = torch.Generator().manual_seed(seed)
    bound = (6 / (d + h)) ** 0.5
    w1 = torch.empty(d, h).uniform_(-bound, bound, generator=rng)
    return {"w1": w1.requires_grad_(), "w2": torch.zeros(h, c, requires_grad=True)}


def loss_fn(params, x, y):
    x, y = x[y != -1], y[y != -1]
    z = x @ params["w1"]
    hidden = torch.relu(torch.nn.functional.layer_norm(z, z.shape[1:]))
    total = torch.nn.functional.cross_entropy(hidden @ params["w2"], y, reduction="sum")
    return total / max(y.numel(), 1)


def causes():
    return ("spread", "softmax", "mask", "init")
