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
