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
