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
