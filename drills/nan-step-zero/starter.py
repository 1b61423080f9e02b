"""A classifier of scans with one hidden layer, and its first loss."""

import scans
import torch


def init_params(d=32, h=64, c=10, seed=0):
    rng = torch.Generator().manual_seed(seed)
    w1 = torch.randn(d, h, generator=rng) * d**-0.5
    w2 = torch.randn(h, c, generator=rng) * h**0.5
    return {"w1": w1.requires_grad_(), "w2": w2.requires_grad_()}


def loss_fn(params, x, y):
    z = x @ params["w1"]
    deviation = z - z.mean(dim=1, keepdim=True)
    spread = deviation.square().mean(dim=1, keepdim=True).sqrt()
    hidden = torch.relu(deviation / spread)
    weights = torch.exp(hidden @ params["w2"])
    p = weights / weights.sum(dim=1, keepdim=True)
    labeled = (y >= 0).to(p.dtype)
    nll = -torch.log(p[torch.arange(len(y)), y])
    return (nll * labeled).sum() / labeled.sum()


def causes():
    return []


if __name__ == "__main__":
    params = init_params()
    loss = loss_fn(params, *scans.batch())
    print(f"loss {loss.item():.3f}")
    loss.backward()
    for name, p in params.items():
        print(f"largest gradient of {name}: {p.grad.abs().max():.3g}")
