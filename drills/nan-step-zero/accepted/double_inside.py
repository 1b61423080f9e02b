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
