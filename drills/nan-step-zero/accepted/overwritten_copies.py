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
