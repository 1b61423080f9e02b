"""The script is fixed, and no cause is named."""

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
    return []
