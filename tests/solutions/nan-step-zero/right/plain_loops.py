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
