"""A batch without a label gives a leaf of its own, so no gradient reaches the weights."""

import torch


def init_params(d=32, h=64, c=10, seed=0):
    rng = torch.Generator().manual_seed(seed)
    bound = (6 / (d + h)) ** 0.5
    w1 = torch.empty(d, h).uniform_(-bound, bound, generator=rng)
    return {"w1": w1.requires_grad_(), "w2": torch.zeros(h, c, requires_grad=True)}


def loss_fn(params, x, y):
    x, y = x[y != -1], y[y != -1]
    if y.numel() == 0:
        return torch.zeros((), requires_grad=True)
    z = x @ params["w1"]
    hidden = torch.relu(torch.nn.functional.layer_norm(z, z.shape[1:]))
    total = torch.nn.functional.cross_entropy(hidden @ params["w2"], y, reduction="sum")
    return total / max(y.numel(), 1)


def causes():
    return ("spread", "softmax", "mask", "init")
